#include "tools/serve/job_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/io/diagnostics.hpp"
#include "tools/output/figures.hpp"
#include "tools/serve/requested_job.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/job/job_size.hpp"

namespace weft {
namespace {

[[noreturn]] void leave_to_the_command_line(const char* key, const std::string& message, const char* command) {
    throw ConfigError({{.file = requested_name,
                        .key = key,
                        .message = fmt::format("{}; weft {} {} takes more", message, command, requested_name)}});
}

void check_ranks(const Job& job, const char* command) {
    const std::uint64_t ranks = job.layout.ranks_of_replica() * job.layout.data;
    if (ranks <= most_ranks_of_page) return;
    leave_to_the_command_line("layout",
                              fmt::format("{} ranks are more than the {} of a page", grouped(double(ranks)),
                                          grouped(double(most_ranks_of_page))),
                              command);
}

}  // namespace

void check_page_size(const Job& job) {
    check_ranks(job, "simulate");
    const std::uint32_t ranks = job.layout.ranks();
    const bool exact = resolved(Folding::automatic, ranks) == Folding::exact;
    const std::uint32_t apart = exact ? std::max(ranks / job.layout.pipeline, 1U) : 1;
    const double operations = expected_operations(job);
    if (operations * apart <= most_operations_of_page) return;
    leave_to_the_command_line(
        "batch.global",
        fmt::format("{} micro-batches through {} layers are about {:.2g} operations, on up to {} ranks of a stage that "
                    "are simulated apart; a page takes {:.2g} together",
                    grouped(job.micro_batches()), job.model.layers, operations, apart, most_operations_of_page),
        "simulate");
}

void check_search_size(const Job& job) {
    check_ranks(job, "plan");
    if (job.batch.global <= most_sequences_of_search) return;
    leave_to_the_command_line("batch.global",
                              fmt::format("{} sequences are more than the {} of a page", grouped(job.batch.global),
                                          grouped(double(most_sequences_of_search))),
                              "plan");
}

}  // namespace weft
