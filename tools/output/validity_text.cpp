#include "tools/output/validity_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/output/figures.hpp"
#include "tools/output/validation_text.hpp"

namespace weft {
namespace {

std::string ranks_text(double least, double most) {
    return fmt::format("{}{} ranks", grouped(least), least == most ? "" : " to " + grouped(most));
}

// Of the job's traits, those that no measured run shares.
std::string without(const Evidence& evidence, const JobTraits& job) {
    std::vector<std::string> values;
    for (const std::string_view name : evidence.unlike) {
        const auto place = static_cast<std::size_t>(std::ranges::find(trait_names, name) - trait_names.begin());
        values.push_back(name == "scale" ? ranks_text(job.ranks, job.ranks) : job.values[place]);
    }
    return fmt::format("{}", fmt::join(values, ", "));
}

std::string line(std::string_view answer, const Evidence& evidence, const JobTraits& job) {
    std::string text = fmt::format("  {:<11}", answer);
    if (evidence.errors.rows == 0) return text + fmt::format("not validated: not measured on {}\n", job.values[0]);
    if (!evidence.is_of_the_kind()) text += fmt::format("not validated for {}; nearest: ", without(evidence, job));
    return text + fmt::format("{} of {}, {}: mean error {}, 90 % within {}, bias {}\n", evidence.errors.rows,
                              fmt::join(evidence.sets, ", "), ranks_text(evidence.least_ranks, evidence.most_ranks),
                              percent(evidence.errors.mean), percent(evidence.errors.percentile_90),
                              signed_percent_text(evidence.errors.bias));
}

}  // namespace

std::string memory_validity_text(const Validity& validity) { return line("memory", validity.memory, validity.job); }

std::string validity_text(const Validity& validity) {
    const JobTraits& job = validity.job;
    return fmt::format("measured runs of this kind ({}, {}):\n{}{}", fmt::join(job.values, ", "),
                       ranks_text(job.ranks, job.ranks), line("step time", validity.step_time, job),
                       memory_validity_text(validity));
}

}  // namespace weft
