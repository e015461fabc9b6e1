#include "tools/output/comparison_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/io/units.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"

namespace weft {
namespace {

Seconds seconds(std::int64_t femtoseconds) { return since_start({femtoseconds}); }
std::string time_text(std::int64_t femtoseconds) { return femtoseconds == 0 ? "" : to_text(seconds(femtoseconds)); }
std::string count_text(double count) { return count == 0 ? "" : grouped(count); }

// Of simulated over recorded; empty where either has nothing.
std::string change(double recorded, double simulated) {
    return recorded > 0 && simulated > 0 ? signed_percent_text(simulated / recorded - 1) : "";
}
std::string change(const Sides<std::int64_t>& times) {
    return change(static_cast<double>(times[0]), static_cast<double>(times[1]));
}

std::string more(const Sides<std::int64_t>& times) { return more_text(seconds(times[1] - times[0])); }

// Of the simulated work in a time of either side: "612 TFLOP/s", "2.41 TB/s"; empty where there is none.
std::string rate_text(const ComparedWork& work, Side side) {
    const Seconds time = seconds(work.femtoseconds[static_cast<std::size_t>(side)]);
    if (time.value <= 0) return "";
    if (work.flops.value > 0) return to_text(work.flops / time);
    return work.bytes.value > 0 ? to_text(work.bytes / time) : "";
}

std::string layer_text(std::int32_t layer) { return layer == no_layer ? "" : fmt::to_string(layer); }

template <class Value, class To>
Json pair_json(const Sides<Value>& sides, To to) {
    return {to(sides[0]), to(sides[1])};
}

Json work_json(const ComparedWork& work) {
    Json json{{"class", name(work.key.what)}, {"pass", name(work.key.pass)}};
    if (work.key.layer != no_layer) json["layer"] = work.key.layer;
    json["count"] = pair_json(work.kernels, number<Json>);
    json["time_s"] = pair_json(work.femtoseconds, [](std::int64_t each) { return seconds(each).value; });
    json["time_fs"] = work.femtoseconds;
    json["exposed_fs"] = work.exposed;
    json["flops"] = work.flops.value;
    json["bytes"] = work.bytes.value;
    return json;
}

Json unmatched_json(const Unmatched& row) {
    Json json{{"side", row.side == Side::recorded ? "recorded" : "simulated"},
              {"class", name(row.key.what)},
              {"pass", name(row.key.pass)}};
    if (row.key.layer != no_layer) json["layer"] = row.key.layer;
    if (row.side == Side::recorded) {
        json["longest_kernel"] = row.kernel;
        json["launched_by"] = row.operation;
    }
    json["count"] = number<Json>(row.kernels);
    json["time_s"] = seconds(row.femtoseconds).value;
    return json;
}

Json comparison_json(const StepComparison& found) {
    const auto in_seconds = [](std::int64_t each) { return seconds(each).value; };
    Json json{{"trace", found.trace},
              {"step", found.recorded.name},
              {"steps", found.recorded.steps},
              {"device", found.device},
              {"stage", found.stage},
              {"ranks", found.ranks},
              {"step_s", pair_json(found.duration, in_seconds)},
              {"step_fs", found.duration},
              {"named", found.named},
              {"matched", found.matched},
              {"profiling_s", seconds(found.profiling).value},
              {"host_layer_forward_s", pair_json(found.host_forward, in_seconds)},
              {"host_layer_backward_s", pair_json(found.host_backward, in_seconds)}};
    if (found.memory[0] > 0) json["allocated_bytes"] = found.memory;
    if (found.recorded.slow_down > 0) json["slow_down_beside_communication"] = found.recorded.slow_down;
    json["classes"] = json_list<Json>(found.classes, work_json);
    json["layers"] = json_list<Json>(found.layers, work_json);
    json["gaps"] = json_list<Json>(found.gaps, [&](const ComparedGap& gap) {
        return Json{
            {"cause", gap.cause}, {"time_s", pair_json(gap.femtoseconds, in_seconds)}, {"time_fs", gap.femtoseconds}};
    });
    json["collectives"] = json_list<Json>(found.calls, [](const ComparedCall& call) {
        return Json{{"op", call.op},
                    {"ranks", call.ranks},
                    {"count", pair_json(call.calls, number<Json>)},
                    {"bytes", pair_json(call.bytes, number<Json>)},
                    {"time_s", call.seconds},
                    {"algorithm", call.method}};
    });
    json["unmatched"] = json_list<Json>(found.unmatched, unmatched_json);
    return json;
}

}  // namespace

TextTable work_table(const StepComparison& found) {
    TextTable table({"<pass", "<class", "kernels", "simulated", "time", "simulated", "more", "", "rate", "simulated"});
    Sides<std::int64_t> all{};
    for (const ComparedWork& work : found.classes) {
        table.add({std::string(name(work.key.pass)), std::string(name(work.key.what)), count_text(work.kernels[0]),
                   count_text(work.kernels[1]), time_text(work.femtoseconds[0]), time_text(work.femtoseconds[1]),
                   more(work.femtoseconds), change(work.femtoseconds), rate_text(work, Side::recorded),
                   rate_text(work, Side::simulated)});
        for (const std::size_t side : {0U, 1U}) all[side] += work.femtoseconds[side];
    }
    table.add({"all", "", "", "", time_text(all[0]), time_text(all[1]), more(all), change(all), "", ""});
    return table;
}

TextTable gap_table(const StepComparison& found) {
    TextTable table({"<step", "recorded", "simulated", "more", ""});
    Sides<std::int64_t> exposed{};
    for (const ComparedWork& work : found.classes) {
        for (const std::size_t side : {0U, 1U}) exposed[side] += work.exposed[side];
    }
    table.add(
        {"kernels, none counted twice", time_text(exposed[0]), time_text(exposed[1]), more(exposed), change(exposed)});
    for (const ComparedGap& gap : found.gaps) {
        table.add({gap.cause, time_text(gap.femtoseconds[0]), time_text(gap.femtoseconds[1]), more(gap.femtoseconds),
                   change(gap.femtoseconds)});
    }
    table.add({"step", time_text(found.duration[0]), time_text(found.duration[1]), more(found.duration),
               change(found.duration)});
    return table;
}

TextTable call_table(const StepComparison& found) {
    TextTable table({"<collective", "ranks", "size", "calls", "simulated", "bytes", "simulated", "time", "simulated",
                     "", "<algorithm"});
    const auto bytes = [](double value) { return value > 0 ? to_text(Bytes{value}) : std::string(); };
    const auto time = [](double value) { return value > 0 ? to_text(Seconds{value}) : std::string(); };
    for (const ComparedCall& call : found.calls) {
        const double calls = call.calls[0] + call.calls[1];
        table.add({call.op, call.ranks > 0 ? fmt::to_string(call.ranks) : "",
                   bytes((call.bytes[0] + call.bytes[1]) / calls), count_text(call.calls[0]), count_text(call.calls[1]),
                   bytes(call.bytes[0]), bytes(call.bytes[1]), time(call.seconds[0]), time(call.seconds[1]),
                   change(call.seconds[0], call.seconds[1]), call.method});
    }
    return table;
}

TextTable unmatched_table(const StepComparison& found, std::size_t most, std::size_t longest_name) {
    TextTable table({"<unmatched", "<pass", "<class", "layer", "kernels", "time", "<longest kernel", "<launched by"});
    std::int64_t rest = 0;
    for (std::size_t i = 0; i < found.unmatched.size(); ++i) {
        const Unmatched& row = found.unmatched[i];
        if (i >= most) {
            rest += row.femtoseconds;
            continue;
        }
        table.add({row.side == Side::recorded ? "recorded" : "simulated", std::string(name(row.key.pass)),
                   std::string(name(row.key.what)), layer_text(row.key.layer), count_text(row.kernels),
                   time_text(row.femtoseconds), row.kernel.substr(0, longest_name), row.operation});
    }
    if (rest > 0) {
        table.add({fmt::format("{} more (--json has all)", found.unmatched.size() - most), "", "", "", "",
                   time_text(rest), "", ""});
    }
    return table;
}

StepComparisonWords step_comparison_words(const StepComparison& found) {
    StepComparisonWords words{.step = found.recorded.name, .warning = {}, .told = {}};
    if (found.recorded.steps > 1) words.step += fmt::format(", of median length of {}", found.recorded.steps);
    if (!found.device.empty()) words.step += ", " + found.device;
    words.step += fmt::format("; beside a simulated rank of stage {}", found.stage);
    if (found.ranks[0] >= 0 && found.ranks[0] != found.ranks[1]) {
        words.warning = fmt::format("{} ranks were recorded, the job has {}", found.ranks[0], found.ranks[1]);
    }
    const auto tell = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
        words.told.push_back(fmt::format(format, std::forward<Args>(args)...));
    };
    if (found.memory[0] > 0) {
        tell("memory allocated: recorded {}, simulated {} ({})", to_text(Bytes{found.memory[0]}),
             to_text(Bytes{found.memory[1]}), change(found.memory[0], found.memory[1]));
    }
    tell("{} of the recorded kernels' time is in a named class, {} has a simulated counterpart", percent(found.named),
         percent(found.matched));
    if (found.host_forward[0] > 0 && found.host_backward[0] > 0) {
        tell("the host issues a layer in {} forward and {} backward, less what the profiler takes; simulated {} and {}",
             time_text(found.host_forward[0]), time_text(found.host_backward[0]), time_text(found.host_forward[1]),
             time_text(found.host_backward[1]));
    }
    if (found.recorded.slow_down > 0) {
        tell("beside communication recorded kernels take {:.3f} times as long as equal ones alone",
             found.recorded.slow_down);
    }
    if (found.profiling > 0) {
        tell("about {} of the recorded step is the profiler's own cost on the host: {} without it",
             time_text(found.profiling), time_text(found.duration[0] - found.profiling));
    }
    return words;
}

std::string step_comparison_text(const StepComparison& found) {
    const StepComparisonWords words = step_comparison_words(found);
    std::string text = fmt::format("{}: {}\n", found.trace, words.step);
    if (!words.warning.empty()) text += "warning: " + words.warning + "\n";
    text += "\n" + gap_table(found).text() + "\n" + work_table(found).text();
    if (!found.calls.empty()) text += "\n" + call_table(found).text();
    if (!found.unmatched.empty()) text += "\n" + unmatched_table(found, 12, 48).text();
    text += "\n";
    for (const std::string& each : words.told) text += each + "\n";
    return text;
}

std::string step_comparison_json(std::span<const StepComparison> comparisons) {
    if (comparisons.size() == 1) return json_text(comparison_json(comparisons.front()));
    return json_text(Json{{"traces", json_list<Json>(comparisons, comparison_json)}});
}

}  // namespace weft
