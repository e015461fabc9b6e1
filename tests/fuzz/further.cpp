#include "tests/fuzz/further.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "sim/io/diagnostics.hpp"
#include "tests/workloads/soundness.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"

namespace weft::test {
namespace {

constexpr double most_planned = 1e5, most_simulated = 2000;  // operations of a rank of every stage
constexpr double most_experts = 10'000;                      // of all layers together
constexpr std::uint64_t most_ranks = 32;

void must_be_size(double value, const std::string& what) {
    if (!std::isfinite(value) || value < 0) throw std::logic_error(fmt::format("{} is {}", what, value));
}

void check_plan(const Plan& plan) {
    must_be_size(plan.model_flops.value, "model FLOPs");
    must_be_size(plan.hardware_flops.value, "hardware FLOPs");
    for (const Stage& stage : plan.stages) {
        must_be_size(stage.parameters(), "parameters of a stage");
        must_be_size(stage.optimizer.value, "time of the optimizer");
        must_be_size(stage.memory.total().value, "memory of a stage");
    }
    plan.fits();
}

// As other tools are told it, as far as they can be.
void write_configurations(const Study& study) {
    for (const ExportFormat* format : exports::all()) {
        if (format->job == nullptr) continue;
        try {
            format->job(study);
        } catch (const ConfigError&) {
            continue;
        }
    }
}

// Whether it is the turn of a small job: a step takes as long as several plans.
bool is_simulated() {
    static const char* const text = std::getenv("WEFT_FUZZ_PLANNED");
    static const unsigned long turns = text == nullptr ? 1 : std::max(1UL, std::strtoul(text, nullptr, 10));
    static unsigned long small_jobs = 0;
    return small_jobs++ % turns == 0;
}

}  // namespace

const StudySources& sources_of_case() {
    constexpr int most_cases = 1000;
    static std::unique_ptr<StudySources> kept;
    static int asked = 0;
    if (asked++ % most_cases == 0) kept = std::make_unique<StudySources>();
    return *kept;
}

void go_on_with(const Study& study) {
    const double operations = expected_operations(study.job);
    must_be_size(operations, "the size of the job");
    const double experts = double(study.job.model.experts.count) * study.job.model.layers;
    if (operations > most_planned || experts > most_experts) return;
    check_plan(make_plan(study));
    write_configurations(study);
    if (operations > most_simulated || study.job.layout.ranks_of_replica() * study.job.layout.data > most_ranks) return;
    if (!is_simulated()) return;
    if (const std::string wrong = unsoundness(study); !wrong.empty()) throw std::logic_error(wrong);
}

}  // namespace weft::test
