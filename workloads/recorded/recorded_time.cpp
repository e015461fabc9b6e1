// Where the time of a recorded step went.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "workloads/recorded/recorded_step.hpp"

namespace weft {
namespace {

constexpr std::uint32_t none = 0xffffffff;

struct StepTime {
    struct Wait {
        std::int64_t begin, end;
    };

    const KinetoTrace& trace;
    RecordedStep& step;
    std::vector<Wait> waits{};  // of the host for the device, by end

    // Computation first, then what communication it leaves uncovered, then gaps.
    void add_up_time() {
        for (const HostEvent& event : trace.host) {
            if (event.kind != HostEvent::Kind::launch) continue;
            const std::string_view what = text(event.name);
            if (what.find("Synchronize") != what.npos) waits.push_back({event.begin, event.end});
        }
        std::ranges::sort(waits, {}, &Wait::end);
        step.forward = layer_issue(WorkPass::forward);
        step.backward = layer_issue(WorkPass::backward);
        std::int64_t covered = step.begin;
        struct Piece {
            std::int64_t begin, end;
            std::uint32_t next;
        };
        std::vector<Piece> idle;
        std::vector<std::uint32_t> communication;
        for (std::uint32_t i = 0; i < step.kernels.size(); ++i) {
            RecordedKernel& kernel = step.kernels[i];
            const DeviceEvent& event = trace.kernels[kernel.event];
            if (kernel.what == WorkClass::communication) {
                communication.push_back(i);
                continue;
            }
            if (event.begin > covered) idle.push_back({covered, event.begin, i});
            const std::int64_t begin = std::max(event.begin, covered), end = std::min(event.end, step.end);
            kernel.exposed = std::max<std::int64_t>(end - begin, 0);
            covered = std::max(covered, end);
        }
        if (step.end > covered) idle.push_back({covered, step.end, none});
        std::size_t first = 0;  // of communication, that may still be under way
        for (Piece piece : idle) {
            for (std::size_t c = first; c < communication.size() && piece.begin < piece.end; ++c) {
                RecordedKernel& kernel = step.kernels[communication[c]];
                const DeviceEvent& event = trace.kernels[kernel.event];
                if (event.begin >= piece.end) break;
                if (event.end <= piece.begin) {
                    first = c == first ? c + 1 : first;
                    continue;
                }
                const std::int64_t begin = std::max(event.begin, piece.begin), end = std::min(event.end, piece.end);
                if (begin > piece.begin) add_gap(piece.begin, begin, piece.next);
                kernel.exposed += end - begin;
                piece.begin = end;
            }
            if (piece.begin < piece.end) add_gap(piece.begin, piece.end, piece.next);
        }
        lay_beside(communication);
        step.slow_down = slow_down();
    }

    // Calls come by their begin. A stretch in which there is at least one, and how long there had been any before it.
    void lay_beside(const std::vector<std::uint32_t>& calls) {
        struct Stretch {
            std::int64_t begin, end, before;
        };
        std::vector<Stretch> stretches{{step.begin, step.begin, 0}};
        for (const std::uint32_t call : calls) {
            const DeviceEvent& event = trace.kernels[step.kernels[call].event];
            Stretch& last = stretches.back();
            if (event.begin <= last.end) {
                last.end = std::max(last.end, event.end);
            } else {
                stretches.push_back({event.begin, event.end, last.before + last.end - last.begin});
            }
        }
        const auto communicated = [&](std::int64_t until) {
            const auto next = std::ranges::upper_bound(stretches, until, {}, &Stretch::begin);
            if (next == stretches.begin()) return std::int64_t{0};
            const Stretch& last = *std::prev(next);
            return last.before + std::min(until, last.end) - last.begin;
        };
        for (RecordedKernel& kernel : step.kernels) {
            const DeviceEvent& event = trace.kernels[kernel.event];
            if (kernel.what != WorkClass::communication)
                kernel.beside = communicated(event.end) - communicated(event.begin);
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

    std::string_view text(std::uint32_t id) const { return trace.texts[id]; }

    // Where the host waits for the device the time is not its own, which medians leave out as long as it is seldom.
    RecordedStep::LayerIssue layer_issue(WorkPass pass) const {
        std::map<std::int32_t, std::int64_t> first;
        for (const RecordedKernel& kernel : step.kernels) {
            if (kernel.pass != pass || kernel.layer == no_layer) continue;
            const std::int64_t launched = kernel.launched;
            const auto [found, fresh] = first.try_emplace(kernel.layer, launched);
            if (!fresh) found->second = std::min(found->second, launched);
        }
        std::vector<std::int64_t> starts;
        for (const auto& [layer, launched] : first) starts.push_back(launched);
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
    void add_gap(std::int64_t begin, std::int64_t end, std::uint32_t next) {
        if (next == none) {
            step.gaps.end += end - begin;
            return;
        }
        const std::int64_t launched = std::clamp(step.kernels[next].launched, begin, end);
        constexpr std::int64_t at_once = 20'000;  // ns: a device begins a kernel that is in its queue within a few us
        const bool waited_long = end - launched > at_once && !trace.calls.empty();
        (waited_long ? step.gaps.waiting : step.gaps.between) += end - launched;
        const auto wait = std::ranges::upper_bound(waits, begin, {}, &Wait::end);  // the first that ends in the gap
        const bool waited = wait != waits.end() && wait->end <= launched && wait->begin <= begin;
        (waited ? step.gaps.synchronisation : step.gaps.host) += launched - begin;
    }
};

}  // namespace

void add_up_time(const KinetoTrace& trace, RecordedStep& step) { StepTime{trace, step}.add_up_time(); }

}  // namespace weft
