// Where the time of a recorded step went.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "workloads/recorded/recorded_step.hpp"
#include "workloads/recorded/stretches.hpp"

namespace weft {
namespace {

struct StepTime {
    const KinetoTrace& trace;
    RecordedStep& step;
    std::vector<HostEvent> waits{trace.waits()};  // by end

    // Computation first, then what communication it leaves uncovered, then gaps.
    void add_up_time() {
        std::ranges::sort(waits, {}, &HostEvent::end);
        step.forward = layer_issue(WorkPass::forward);
        step.backward = layer_issue(WorkPass::backward);
        Stretches busy, calls;
        for (const bool computes : {true, false}) {
            for (RecordedKernel& kernel : step.kernels) {
                if ((kernel.what != WorkClass::communication) != computes) continue;
                const Stretch own = stretch_of(kernel);
                kernel.exposed = length(own) - length(within(busy, own));
                busy += own;
                if (!computes) calls += own;
            }
        }
        for (RecordedKernel& kernel : step.kernels) {
            if (kernel.what != WorkClass::communication) kernel.beside = length(within(calls, stretch_of(kernel)));
        }
        add_gaps(Stretches({step.begin, step.end}) - busy);
        step.slow_down = slow_down();
    }

    // In the step.
    Stretch stretch_of(const RecordedKernel& kernel) const {
        const DeviceEvent& event = trace.kernels[kernel.event];
        return Stretch(event.begin, event.end) & Stretch(step.begin, step.end);
    }

    // Each up to the computation that comes next, or to a call.
    void add_gaps(const Stretches& idle) {
        auto next = step.kernels.cbegin();
        for (const Stretch& gap : idle) {
            for (std::int64_t at = gap.lower(), end = at; at < gap.upper(); at = end) {
                next = std::find_if(next, step.kernels.cend(), [&](const RecordedKernel& kernel) {
                    return kernel.what != WorkClass::communication && trace.kernels[kernel.event].begin > at;
                });
                end = gap.upper();
                if (next == step.kernels.cend()) {
                    step.gaps.end += end - at;
                } else {
                    end = std::min(end, trace.kernels[next->event].begin);
                    add_gap(at, end, next->launched);
                }
            }
        }
    }

    double slow_down() const {
        constexpr double most_alone = 0.1, least_beside = 0.9;
        struct Times {
            std::array<double, 2> sum{}, kernels{};  // alone, beside
        };
        std::map<std::pair<std::uint32_t, std::uint32_t>, Times> equal;  // by name and shapes
        for (const RecordedKernel& kernel : step.kernels) {
            const DeviceEvent& event = trace.kernels[kernel.event];
            const auto time = static_cast<double>(event.end - event.begin);
            const double share = static_cast<double>(kernel.beside) / time;
            const bool is_known = kernel.what != WorkClass::communication && kernel.dims != 0 && time > 0;
            if (!is_known || (share > most_alone && share < least_beside)) continue;
            Times& times = equal[{event.name, kernel.dims}];
            times.sum[share >= least_beside] += time;
            ++times.kernels[share >= least_beside];
        }
        double beside = 0, alone = 0;
        for (const auto& [what, times] : equal) {
            if (times.kernels[0] == 0 || times.kernels[1] == 0) continue;
            beside += times.sum[1];
            alone += times.kernels[1] * times.sum[0] / times.kernels[0];
        }
        return alone > 0 ? std::max(beside / alone, 1.0) : 0.0;
    }

    // Where the host waits for the device the time is not its own, which medians leave out as long as it is seldom.
    RecordedStep::LayerIssue layer_issue(WorkPass pass) const {
        std::map<std::int32_t, std::int64_t> first;
        for (const RecordedKernel& kernel : step.kernels) {
            if (kernel.pass != pass || kernel.layer == no_layer) continue;
            std::int64_t& launched = first.try_emplace(kernel.layer, kernel.launched).first->second;
            launched = std::min(launched, kernel.launched);
        }
        auto starts = list_of<std::int64_t>(first, [](const auto& layer) { return layer.second; });
        if (starts.size() < 3) return {};
        std::ranges::sort(starts);
        std::vector<std::int64_t> times;
        for (std::size_t i = 1; i < starts.size(); ++i) times.push_back(starts[i] - starts[i - 1]);
        std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
        const auto within = std::ranges::count_if(trace.host, [&](const HostEvent& event) {
            return event.kind == HostEvent::Kind::operation && event.begin >= starts.front() &&
                   event.begin < starts.back();
        });
        return {times[times.size() / 2], static_cast<double>(within) / static_cast<double>(times.size())};
    }

    // Until the next kernel is launched the host is late; from then on it is the device that takes its time.
    void add_gap(std::int64_t begin, std::int64_t end, std::int64_t next_launched) {
        const std::int64_t launched = std::clamp(next_launched, begin, end);
        constexpr std::int64_t at_once = 20'000;  // ns: a device begins a kernel that is in its queue within a few us
        const bool waited_long = end - launched > at_once && !trace.calls.empty();
        (waited_long ? step.gaps.waiting : step.gaps.between) += end - launched;
        const auto wait =
            std::ranges::upper_bound(waits, begin, {}, &HostEvent::end);  // the first that ends in the gap
        const bool waited = wait != waits.end() && wait->end <= launched && wait->begin <= begin;
        (waited ? step.gaps.synchronisation : step.gaps.host) += launched - begin;
    }
};

}  // namespace

void add_up_time(const KinetoTrace& trace, RecordedStep& step) { StepTime{trace, step}.add_up_time(); }

}  // namespace weft
