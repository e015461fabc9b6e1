// Recorded steps as measurements of a device.
#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "workloads/plan/plan.hpp"
#include "workloads/recorded/simulated_work.hpp"

namespace weft {
namespace {

// A step counts as so many kernels measured alone, each class by its share of the time: it is steps that are predicted.
constexpr double weight_of_step = 100;

enum class Told : std::uint8_t { work, between, host_forward, host_backward, interference };

struct TraceRow {
    Told told{};
    WorkPass pass{};
    WorkClass what{};
};

double seconds(std::int64_t femtoseconds) { return since_start({femtoseconds}).value; }

bool tells(const ComparedWork& work, std::int64_t step) {
    constexpr double least_share = 0.005, shortest = 10e-6;
    const WorkClass what = work.key.what;
    const bool is_rate = what < WorkClass::communication && what != WorkClass::other_products;
    if (!is_rate || work.kernels[0] <= 0 || work.femtoseconds[1] <= 0) return false;
    const double time = seconds(work.femtoseconds[0]);
    return time > least_share * seconds(step) && time / work.kernels[0] > shortest;
}

// What the work of a step takes on a device, in the order of the rows; of interference, a factor.
std::vector<double> predicted(const Study& study, std::uint32_t stage, const Device& device,
                              const std::vector<TraceRow>& rows) {
    Study changed = study;
    changed.device = device;
    const Plan plan = make_plan(changed);
    const SimulatedWork work = simulated_work(plan, stage, WorkDetail::times);
    std::vector<double> values;
    for (const TraceRow& row : rows) {
        Seconds sum = row.told == Told::between ? plan.device.kernel_launch : Seconds{};
        if (row.told == Told::interference) sum = Seconds{plan.device.interference};
        if (row.told == Told::host_forward) sum = work.host_forward;
        if (row.told == Told::host_backward) sum = work.host_backward;
        for (const auto& [key, own] : work.sums) {
            const bool is_of_row = row.told == Told::work && key.pass == row.pass;
            if (is_of_row && work.compared(key.what) == row.what) sum += own.time;
        }
        values.push_back(sum.value);
    }
    return values;
}

}  // namespace

DeviceFitSource trace_source(const Study& study, const StepComparison& found) {
    DeviceFitSource source;
    std::vector<TraceRow> rows;
    const std::string file = std::filesystem::path(found.trace).filename().string();
    const auto add = [&](TraceRow row, std::string kind, double measured, double weight) {
        rows.push_back(row);
        source.rows.push_back({.kind = std::move(kind),
                               .where = fmt::format("{}:{}", file, found.recorded.name),
                               .measured = measured,
                               .weight = weight});
    };
    std::int64_t busy = 0, late = 0, beside = 0;
    // Of the time beside communication, what it would not have taken alone.
    const double slower = found.recorded.slow_down > 0 ? 1.0 - 1.0 / found.recorded.slow_down : 0.0;
    for (const ComparedWork& work : found.classes) busy += work.femtoseconds[0];
    for (const ComparedWork& work : found.classes) {
        if (!tells(work, found.duration[0])) continue;
        add({Told::work, work.key.pass, work.key.what}, fmt::format("{}, {}", name(work.key.what), name(work.key.pass)),
            seconds(work.femtoseconds[0]) - slower * seconds(work.beside),
            weight_of_step * static_cast<double>(work.femtoseconds[0]) / static_cast<double>(busy));
        beside += work.beside;
    }
    if (found.recorded.slow_down > 0 && beside > 0) {
        add({Told::interference, {}, {}}, "times as long beside communication", found.recorded.slow_down,
            weight_of_step * static_cast<double>(beside) / static_cast<double>(busy));
    }
    for (const ComparedGap& gap : found.gaps) late += gap.is_of_host ? gap.femtoseconds[0] : 0;
    const auto add_one = [&](Told told, const char* kind, std::int64_t measured, std::int64_t simulated) {
        if (measured > 0 && simulated > 0) add({told, {}, {}}, kind, seconds(measured), 1.0);
    };
    // A kernel that the host launches in time follows at once; others wait for their launch to arrive. What the host
    // takes shows where the device waits for it.
    constexpr double seldom = 0.1;
    if (seconds(late) < seldom * seconds(found.duration[0])) {
        add_one(Told::between, "between kernels", found.between, found.between);
    } else {
        add_one(Told::host_forward, "host, a layer forward", found.host_forward[0], found.host_forward[1]);
        add_one(Told::host_backward, "host, a layer backward", found.host_backward[0], found.host_backward[1]);
    }
    source.predict = [study, stage = found.stage, rows = std::move(rows)](const Device& device) {
        return predicted(study, stage, device, rows);
    };
    return source;
}

bool is_told_by_steps(const DeviceConstant& constant, const Study& study) {
    constexpr std::string_view always[] = {"gemm_plateau", "kernel_launch", "host_launch", "interference"};
    const bool fuses = study.job.modules == ModuleCode::framework || study.job.compile != Compile::off;
    if (constant.name == "memory_efficiency") return fuses;
    if (std::ranges::find(always, constant.name) != std::end(always)) return true;
    if (constant.name == "gemm_eighth_plateau") return is_narrow(study.job.precision);
    const AttentionCurve &own = study.device.attention_cudnn, &flash = study.device.attention;
    const bool has_own = own.forward != flash.forward || own.backward != flash.backward;
    const std::string_view core =
        study.job.attention == AttentionCore::cudnn && has_own ? "attention_cudnn" : "attention";
    if (constant.name == fmt::format("{}_forward", core) || constant.name == fmt::format("{}_backward", core))
        return true;
    return constant.name.starts_with("pass_");
}

}  // namespace weft
