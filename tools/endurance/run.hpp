// What `weft run` is asked for beside the job, and what comes out of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/command.hpp"
#include "workloads/endurance/run_plan.hpp"

namespace weft {

// Throws OptionError.
RunTerms run_terms(const po::variables_map& arguments);
std::optional<BatchRamp> batch_ramp(const po::variables_map& arguments);
std::optional<double> price(const po::variables_map& arguments);

// Throws RangeError, with numbers: playing so many samples would take more than a few minutes.
void check_work(const LongRun& run, std::uint64_t samples);

// Quantiles over samples, and their mean.
struct Spread {
    double p5 = 0, p50 = 0, p95 = 0, mean = 0;
};

// Samples by value, in bins of equal width from the least to the greatest; one bin where that is narrow.
struct Distribution {
    double least = 0, greatest = 0;
    std::vector<std::uint64_t> counts;

    // Within a hundredth of the greatest: a chart would show as news what is none. All values are 0 or above.
    bool is_narrow() const { return greatest - least <= 0.01 * greatest; }
};

enum class RunUnit : std::uint8_t { time, share, count, tokens, energy, per_token, cost };

struct RunQuantity {
    std::string_view key;    // in JSON
    std::string_view label;  // for people
    RunUnit unit{};
    Spread spread;
    Distribution distribution;
};

struct RunResult {
    RunPlan plan;
    std::vector<RunQuantity> quantities;
    std::uint64_t samples = 0, seed = 0;

    const RunQuantity* find(std::string_view key) const;      // null if there is none, as of an unknown energy
    const RunQuantity& quantity(std::string_view key) const;  // LogicError if there is none
};

// `price` is of one accelerator for an hour; `ranks` have one each.
RunResult run_result(RunPlan plan, const std::vector<RunSample>& samples, std::uint64_t seed,
                     std::optional<double> price, std::uint32_t ranks);

// As many samples as tell a mean or a median, one after another. Throws RangeError as check_work() does.
RunResult played_run(RunPlan plan, std::optional<double> price, std::uint32_t ranks);

}  // namespace weft
