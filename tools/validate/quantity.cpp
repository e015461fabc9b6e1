#include "tools/validate/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/validate/layer_time.hpp"
#include "workloads/report/flop_convention.hpp"

namespace weft {
namespace {

// Short names of metrics.
constexpr std::array metric_names = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"step_s", "step.time_s"},
    {"tokens_per_s", "throughput.tokens_per_s"},
    {"peak_bytes", "memory.peak_bytes"},
    {"allocated_bytes", "memory.allocated_bytes"},
});
constexpr std::array other_names =
    std::to_array<std::string_view>({"layer_forward_s", "layer_backward_s", collective_quantity, "model_tflops",
                                     "megatron_tflops", "megatron_core_tflops", "neox_tflops"});
constexpr std::string_view communication_prefix = "communication.", call_prefix = "call.", seconds_suffix = "_s",
                           tflops_suffix = "_tflops";

bool is_communication(std::string_view quantity) {
    return (quantity.starts_with(communication_prefix) || quantity.starts_with(call_prefix)) &&
           quantity.ends_with(seconds_suffix);
}

std::optional<FlopConvention> convention_of(std::string_view quantity) {
    if (!quantity.ends_with(tflops_suffix)) return std::nullopt;
    return find_flop_convention(quantity.substr(0, quantity.size() - tflops_suffix.size()));
}

std::string with_underscores(std::string text) {
    std::ranges::replace(text, ' ', '_');
    return text;
}

// "communication.tensor_s" and the like: time in transfer, of the step or of one call.
double communication_time(std::string_view quantity, const Report& report) {
    const bool of_call = quantity.starts_with(call_prefix);
    std::string_view what = quantity.substr((of_call ? call_prefix : communication_prefix).size());
    what.remove_suffix(seconds_suffix.size());
    const std::size_t dot = what.find('.');
    Seconds time;
    double calls = 0;
    for (const CommunicationReport& row : report.communication) {
        if (with_underscores(row.dimension) != what.substr(0, dot)) continue;
        if (dot != what.npos && row.op != what.substr(dot + 1)) continue;
        time += row.time;
        calls += row.calls;
    }
    if (calls == 0) throw RangeError(fmt::format("the step has no call for {}", quantity));
    return of_call ? time.value / calls : time.value;
}

double metric(std::string_view key, const Report& report) {
    const auto found = std::ranges::find(report.metrics, key, &Metric::key);
    if (found == report.metrics.end()) throw RangeError(fmt::format("a step has no metric {}", key));
    return found->value;
}

}  // namespace

std::string quantity_obstacle(std::string_view quantity) {
    std::vector<std::string> known;
    for (const auto& [name, key] : metric_names) known.emplace_back(name);
    known.insert(known.end(), other_names.begin(), other_names.end());
    if (std::ranges::find(known, quantity) != known.end() || quantity.find('.') != quantity.npos) return "";
    return fmt::format("measured.{}: unknown quantity{} (known: {}, and the metrics of weft simulate --json)", quantity,
                       suggestion(quantity, known), fmt::join(known, ", "));
}

std::string_view quantity_unit(std::string_view quantity) {
    if (quantity.ends_with("tokens_per_s")) return "tokens/s";
    if (quantity.ends_with("_tflops") || quantity.find("_tflops_") != quantity.npos) return "TFLOP/s";
    if (quantity.ends_with("_s")) return "s";
    return quantity.ends_with("_bytes") ? "B" : "";
}

bool of_one_layer(std::string_view quantity) { return quantity.starts_with("layer_"); }

double predicted_quantity(std::string_view quantity, const Simulation& run, const Report& report) {
    if (quantity == "layer_forward_s") return layer_time(run).forward.value;
    if (quantity == "layer_backward_s") return layer_time(run).backward.value;
    if (is_communication(quantity)) return communication_time(quantity, report);
    if (const auto convention = convention_of(quantity)) {
        return flop_rate(run.plan.job, *convention, since_start(run.timeline.end)).value / 1e12;
    }
    const auto named = std::ranges::find(metric_names, quantity, &decltype(metric_names)::value_type::first);
    return metric(named == metric_names.end() ? quantity : named->second, report);
}

}  // namespace weft
