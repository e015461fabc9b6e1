#include "workloads/recorded/recorded_step.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

namespace weft {
namespace {

constexpr std::uint32_t none = 0xffffffff;
constexpr std::string_view evaluates = "autograd::engine::evaluate_function: ";

// What a kernel was launched by: events of the host that lie around its launch, outermost first.
using Chain = std::vector<std::uint32_t>;

// A kernel of a forward pass.
struct ForwardKernel {
    std::int64_t launched = 0;      // ns
    std::uint64_t fingerprint = 0;  // of its name and what launched it
    bool is_core = false, is_scores = false;
};
// no_layer: before the first layer and behind the last.
struct LayerBegin {
    std::int64_t launched = 0;
    std::int32_t layer = no_layer;
};

// Kernels that precede two cores alike.
std::size_t common_before(const std::vector<ForwardKernel>& kernels, std::size_t first, std::size_t second) {
    std::size_t same = 0;
    while (same < first && kernels[first - 1 - same].fingerprint == kernels[second - 1 - same].fingerprint) ++same;
    return std::min(same, second - first - 1);
}

// Puts the kernels of forward passes, in order, into layers, which the profiler does not name; returns of each when the
// host had come to it. A layer has one attention core; what precedes it in the first layer, up to where the model's
// beginning differs, precedes it in all.
std::vector<LayerBegin> find_layers(const std::vector<ForwardKernel>& kernels, std::uint32_t layers) {
    // An attention core may be several kernels on end.
    std::vector<std::size_t> cores;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (kernels[i].is_core && (i == 0 || !kernels[i - 1].is_core)) cores.push_back(i);
    }
    std::vector<LayerBegin> found;
    if (layers == 0 || cores.size() < layers || cores.size() % layers != 0) return found;
    const std::size_t before = cores.size() > 1 && layers > 1 ? common_before(kernels, cores[0], cores[1]) : cores[0];
    for (std::size_t i = 0; i < cores.size(); ++i) {
        const auto layer = static_cast<std::int32_t>(i % layers);
        found.push_back({kernels[cores[i] - std::min(before, cores[i])].launched, layer});
        if (layer + 1 < static_cast<std::int32_t>(layers)) continue;
        // The last layer is as long as the one before it; one alone ends where kernels do.
        if (layers < 2) continue;
        const std::size_t end = cores[i] + (cores[i] - cores[i - 1]) - before;
        if (end < kernels.size()) found.push_back({kernels[end].launched, no_layer});
    }
    return found;
}

class StepReader {
  public:
    StepReader(const KinetoTrace& trace, std::uint32_t layers, WhichStep which)
        : trace_(trace), layers_(layers), which_(which) {}

    RecordedStep read() {
        link_launches();
        choose_step();
        for (std::uint32_t i = 0; i < trace_.kernels.size(); ++i) {
            const std::int64_t launched = launch_time(i);
            if (launched < first_ || launched >= last_) continue;
            step_.kernels.push_back({.event = i, .launched = launched});
        }
        add_chains();
        for (std::size_t i = 0; i < step_.kernels.size(); ++i) place(step_.kernels[i], chains_[i]);
        put_into_layers();
        add_up_time(trace_, step_);
        return std::move(step_);
    }

  private:
    std::string_view text(std::uint32_t id) const { return trace_.texts[id]; }
    const HostEvent& host(std::uint32_t i) const { return trace_.host[i]; }

    void link_launches() {
        for (std::uint32_t i = 0; i < trace_.host.size(); ++i) {
            if (host(i).kind == HostEvent::Kind::launch) launches_.try_emplace(host(i).correlation, i);
        }
    }

    std::uint32_t launch_of(std::uint32_t kernel) const {
        const auto found = launches_.find(trace_.kernels[kernel].correlation);
        return found == launches_.end() ? none : found->second;
    }

    // A kernel whose launch was not recorded began as soon as it was launched.
    std::int64_t launch_time(std::uint32_t kernel) const {
        const std::uint32_t launch = launch_of(kernel);
        return launch == none ? trace_.kernels[kernel].begin : host(launch).begin;
    }

    // Of kernels that are launched in [begin, end).
    std::int64_t device_end(std::int64_t begin, std::int64_t end) const {
        std::int64_t last = begin;
        for (std::uint32_t i = 0; i < trace_.kernels.size(); ++i) {
            const std::int64_t launched = launch_time(i);
            if (launched >= begin && launched < end) last = std::max(last, trace_.kernels[i].end);
        }
        return last;
    }

    void choose_step() {
        std::map<std::int64_t, std::uint32_t> steps;
        for (std::uint32_t i = 0; i < trace_.host.size(); ++i) {
            const bool is_step =
                host(i).kind == HostEvent::Kind::annotation && text(host(i).name).starts_with("ProfilerStep");
            if (is_step) steps.try_emplace(host(i).begin, i);
        }
        if (steps.empty()) return take_all();
        struct Timed {
            std::int64_t duration, begin;
            std::uint32_t event;
        };
        std::vector<Timed> timed;
        std::int64_t before = 0;
        for (const auto& [begin, event] : steps) {
            const std::int64_t from = before == 0 ? begin : std::max(before, begin);
            const std::int64_t end = device_end(begin, host(event).end);
            if (end == begin) continue;  // nothing was launched
            before = end;
            timed.push_back({before - from, from, event});
        }
        if (timed.empty()) return take_all();
        if (which_ == WhichStep::median) std::ranges::sort(timed, {}, &Timed::duration);
        const Timed& chosen = timed[(timed.size() - 1) / 2];
        step_.name = text(host(chosen.event).name);
        step_.steps = timed.size();
        first_ = host(chosen.event).begin;
        last_ = host(chosen.event).end;
        step_.begin = chosen.begin;
        step_.end = std::max(chosen.begin + chosen.duration, chosen.begin);
    }

    void take_all() {
        step_.name = "the whole trace";
        std::int64_t first = trace_.kernels.front().begin, last = 0;
        const auto is_work = [](const HostEvent& event) { return event.kind != HostEvent::Kind::launch; };
        if (const HostEvent* const work = first_of(trace_.host, is_work)) first = std::min(first, work->begin);
        for (const DeviceEvent& kernel : trace_.kernels) last = std::max(last, kernel.end);
        first_ = std::min(first, trace_.host.empty() ? first : trace_.host.front().begin);
        last_ = last + 1;
        step_.begin = first;
        step_.end = last;
    }

    // By a walk over each thread with the operations that are open.
    void add_chains() {
        chains_.resize(step_.kernels.size());
        std::unordered_map<std::uint32_t, std::size_t> kernel_of_launch;
        for (std::size_t i = 0; i < step_.kernels.size(); ++i) {
            const std::uint32_t launch = launch_of(step_.kernels[i].event);
            if (launch != none) kernel_of_launch.try_emplace(launch, i);
        }
        std::map<std::uint32_t, Chain> open;
        for (std::uint32_t i = 0; i < trace_.host.size(); ++i) {
            const HostEvent& event = host(i);
            Chain& chain = open[event.thread];
            while (!chain.empty() && host(chain.back()).end <= event.begin) chain.pop_back();
            if (event.kind != HostEvent::Kind::launch) {
                chain.push_back(i);
                if (event.begin >= first_ && event.begin < last_) {
                    step_.operations += event.kind == HostEvent::Kind::operation;
                    if (event.sequence >= 0 && !text(event.name).starts_with(evaluates))
                        forward_.try_emplace(event.sequence, i);
                }
                if (text(event.name).starts_with(evaluates)) last_backward_ = std::max(last_backward_, event.end);
                continue;
            }
            if (const auto found = kernel_of_launch.find(i); found != kernel_of_launch.end()) {
                chains_[found->second] = chain;
            }
        }
    }

    bool lies_in(const Chain& chain, auto holds) const {
        return std::ranges::any_of(chain, [&](std::uint32_t i) { return holds(text(host(i).name)); });
    }

    void place(RecordedKernel& kernel, const Chain& chain) {
        const DeviceEvent& event = trace_.kernels[kernel.event];
        for (const std::uint32_t i : chain) {
            if (host(i).kind != HostEvent::Kind::operation) continue;
            kernel.operation = host(i).name;
            kernel.dims = host(i).dims;
        }
        kernel.what = work_class({.kernel = text(event.name),
                                  .operation = text(kernel.operation),
                                  .dims = text(kernel.dims),
                                  .is_copy = event.kind == DeviceEvent::Kind::copy,
                                  .is_fill = event.kind == DeviceEvent::Kind::fill});
        if (event.call != DeviceEvent::no_call) kernel.what = WorkClass::communication;
        const auto begins = [&](std::string_view with) {
            return lies_in(chain, [&](std::string_view name) { return name.starts_with(with); });
        };
        if (kernel.what == WorkClass::communication) {
            kernel.pass = WorkPass::data_parallel;
        } else if (kernel.what == WorkClass::parameters || is_of_sharding(chain)) {
            kernel.what = WorkClass::parameters;
            kernel.pass = WorkPass::data_parallel;
        } else if (begins("Optimizer.") || (last_backward_ > 0 && kernel.launched >= last_backward_)) {
            kernel.pass = WorkPass::optimizer;
            kernel.what = WorkClass::optimizer;
        } else if (begins(evaluates)) {
            kernel.pass = runs_forward_again(chain) ? WorkPass::recomputation : WorkPass::backward;
        }
    }

    // Of activation checkpoints (torch/utils/checkpoint.py): the passes of backward proper are evaluated in there.
    bool runs_forward_again(const Chain& chain) const {
        std::string_view innermost;
        for (const std::uint32_t i : chain) {
            if (text(host(i).name).starts_with(evaluates)) innermost = text(host(i).name).substr(evaluates.size());
        }
        return innermost == "CheckpointFunctionBackward";
    }

    // FSDP's own work lies in its annotations. DDP's lies where gradients are accumulated, which nothing else computes
    // in.
    bool is_of_sharding(const Chain& chain) const {
        return lies_in(chain, [](std::string_view name) {
            return name.starts_with("FSDP::") || name.starts_with("FullyShardedDataParallel._") ||
                   name.find("AccumulateGrad") != name.npos;
        });
    }

    void put_into_layers() {
        std::vector<ForwardKernel> forward;
        for (const RecordedKernel& kernel : step_.kernels) {
            if (kernel.pass != WorkPass::forward || trace_.kernels[kernel.event].kind == DeviceEvent::Kind::fill)
                continue;
            const std::size_t print = std::hash<std::uint64_t>{}(
                (std::uint64_t{trace_.kernels[kernel.event].name} << 32U) ^ (kernel.operation * 0x9e3779b97f4a7c15U));
            forward.push_back({.launched = kernel.launched,
                               .fingerprint = print,
                               .is_core = kernel.what == WorkClass::attention || kernel.what == WorkClass::scores,
                               .is_scores = kernel.what == WorkClass::scores});
        }
        std::ranges::stable_sort(forward, {}, &ForwardKernel::launched);
        join_scores(forward);
        begins_ = find_layers(forward, layers_);
        for (std::size_t i = 0; i < step_.kernels.size(); ++i) {
            RecordedKernel& kernel = step_.kernels[i];
            if (kernel.pass == WorkPass::forward) kernel.layer = layer_at(kernel.launched);
            const bool is_backward = kernel.pass == WorkPass::backward || kernel.pass == WorkPass::recomputation;
            if (is_backward) kernel.layer = layer_of_forward(chains_[i]);
        }
    }

    // Attention that is not fused is two products, for the scores and with them, and the softmax between.
    static void join_scores(std::vector<ForwardKernel>& forward) {
        bool is_open = false;
        for (ForwardKernel& kernel : forward) {
            kernel.is_core |= is_open;
            if (kernel.is_scores) is_open = !is_open;
        }
    }

    std::int32_t layer_at(std::int64_t launched) const {
        const auto next = std::ranges::upper_bound(begins_, launched, {}, &LayerBegin::launched);
        return next == begins_.begin() ? no_layer : std::prev(next)->layer;
    }

    // Backward of what has the same number of autograd.
    std::int32_t layer_of_forward(const Chain& chain) const {
        for (const std::uint32_t i : chain) {
            if (host(i).sequence < 0) continue;
            const auto found = forward_.find(host(i).sequence);
            if (found != forward_.end()) return layer_at(host(found->second).begin);
        }
        return no_layer;
    }

    const KinetoTrace& trace_;
    std::uint32_t layers_;
    WhichStep which_;
    RecordedStep step_;
    std::unordered_map<std::uint64_t, std::uint32_t> launches_;  // host events by correlation
    std::vector<Chain> chains_;                                  // of step_.kernels
    std::unordered_map<std::int64_t, std::uint32_t> forward_;    // host events by sequence number
    std::vector<LayerBegin> begins_;
    std::int64_t first_ = 0, last_ = 0;  // launches in [first, last) are the step's
    std::int64_t last_backward_ = 0;
};

}  // namespace

RecordedStep recorded_step(const KinetoTrace& trace, std::uint32_t layers, WhichStep which) {
    return StepReader(trace, layers, which).read();
}

}  // namespace weft
