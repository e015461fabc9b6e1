#include <fmt/format.h>

#include <algorithm>

#include "tools/output/figures.hpp"
#include "tools/output/validation_text.hpp"

namespace weft {
namespace {

constexpr std::string_view below_evidence = "             ";  // what is answered stands before it

std::string ranks_text(double least, double most) {
    return fmt::format("{}{} ranks", grouped(least), least == most ? "" : " to " + grouped(most));
}

// Of the job's or the call's traits, those that no measured run shares.
std::string without(const Evidence& evidence, const JobTraits& job) {
    std::vector<std::string> values;
    for (const std::string_view name : evidence.unlike) {
        const auto among = [&](const auto& names) { return std::ranges::find(names, name) - names.begin(); };
        const auto place = static_cast<std::size_t>(std::min(among(trait_names), among(call_trait_names)));
        values.push_back(name == "scale" ? ranks_text(job.ranks, job.ranks) : job.values[place]);
    }
    return fmt::format("{}", fmt::join(values, ", "));
}

}  // namespace

std::string evidence_text(std::string_view answer, const Evidence& evidence, const JobTraits& job) {
    std::string text = fmt::format("  {:<11}", answer);
    if (evidence.errors.rows == 0) return text + fmt::format("not validated: not measured on {}\n", job.values[0]);
    if (!evidence.is_of_the_kind()) text += fmt::format("not validated for {}; nearest: ", without(evidence, job));
    return text + fmt::format("{} of {}, {}: mean error {}, 90 % within {}, bias {}\n", evidence.errors.rows,
                              fmt::join(evidence.sets, ", "), ranks_text(evidence.least_ranks, evidence.most_ranks),
                              percent(evidence.errors.mean), percent(evidence.errors.percentile_90),
                              signed_percent_text(evidence.errors.bias));
}

std::string causes_text(std::span<const CauseOfErrors> causes, std::string_view mark) {
    std::string text;
    std::vector<std::string> unknown;
    for (const auto& [set, cause] : causes) {
        if (cause.empty()) unknown.push_back(set);
        if (!cause.empty()) text += fmt::format("{}{}: {}\n", mark, set, cause);
    }
    if (!unknown.empty()) text += fmt::format("{}{}: why is not known\n", mark, fmt::join(unknown, ", "));
    return text;
}

std::string memory_validity_text(const Validity& validity) {
    return evidence_text("memory", validity.memory, validity.job) + causes_text(validity.memory.causes, below_evidence);
}

std::string validity_text(const Validity& validity) {
    const JobTraits& job = validity.job;
    return fmt::format("measured runs of this kind ({}, {}):\n{}{}", fmt::join(job.values, ", "),
                       ranks_text(job.ranks, job.ranks), evidence_text("step time", validity.step_time, job),
                       causes_text(validity.step_time.causes, below_evidence) + memory_validity_text(validity));
}

}  // namespace weft
