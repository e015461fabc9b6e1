#include "workloads/explain/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/check.hpp"
#include "topologies/measurements/measurement.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/recorded/simulated_work.hpp"
#include "workloads/stage/stage_script.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

constexpr const char* kernel_classes[] = {
    "attention products", "MLP products", "expert products", "router products",          "logits",
    "unfused attention",  "recurrence",   "fused attention", "fused attention backward", "element-wise"};

std::string_view kernel_class(const Kernel& kernel) {
    const WorkClass what = work_class(kernel);
    if (kernel.kind == KernelKind::memory) return name(WorkClass::element_wise);
    if (kernel.kind == KernelKind::attention_backward) return "fused attention backward";
    if (what == WorkClass::attention) return "fused attention";
    return what == WorkClass::scores ? "unfused attention" : name(what);
}

// Of `measure` over the kernels of a class, in the passes of a step.
template <class Measure>
double summed(WorkCounter& counter, std::string_view kernels, Measure measure) {
    double sum = 0;
    counter.sum([&](const Kernel& kernel) { return kernel_class(kernel) == kernels ? measure(kernel) : 0.0; },
                [&](const WorkKey& key, double value) { sum += is_of_passes(key) ? value : 0.0; });
    return sum;
}

// Bytes that element-wise passes of so long move.
Bytes moved_in(Seconds time, const Device& device) {
    return device.memory_bandwidth * device.memory_efficiency * (time / device.slowdown);
}

void add_kernels(const Plan& plan, std::uint32_t stage, DeviceRoofline& found) {
    WorkCounter counter(plan, stage);
    const Device& device = plan.device;
    const Precision precision = plan.job.precision;
    const auto time = [&](const Kernel& kernel) { return kernel_time(device, precision, kernel).value; };
    const auto busy = [&](const Kernel& kernel) { return time(kernel) - device.kernel_launch.value; };
    const auto is_moving = [&](const Kernel& kernel) {
        constexpr double rounding = 1 + 1e-9;
        const Seconds moving = kernel.bytes / (device.memory_bandwidth * device.memory_efficiency);
        return busy(kernel) <= moving.value * device.slowdown * rounding;
    };
    for (const char* const name : kernel_classes) {
        constexpr double tera = 1e12;  // so that sums with times keep their digits
        KernelClassUse use{.name = name, .time = Seconds{summed(counter, name, time)}};
        if (use.time.value <= 0.0) continue;
        use.computing = Seconds{summed(counter, name, [&](const Kernel& k) { return is_moving(k) ? 0.0 : busy(k); })};
        use.moving = Seconds{summed(counter, name, [&](const Kernel& k) { return is_moving(k) ? busy(k) : 0.0; })};
        use.gaps = use.time - use.computing - use.moving;
        use.flops =
            Flops{tera * summed(counter, name, [](const Kernel& k) { return k.flops.value * k.executed / tera; })};
        use.bytes = Bytes{tera * summed(counter, name, [](const Kernel& k) { return k.bytes.value / tera; })};
        if (use.flops.value > 0.0) {
            // Only products with parameters of layers are in 8 or 4 bits.
            const bool half = is_narrow(precision) &&
                              summed(counter, name, [](const Kernel& k) { return k.parameters ? 1e-6 : 0.0; }) <= 0.0;
            use.peak = device.peak(half ? Precision::bf16 : precision);
        }
        found.kernels.push_back(std::move(use));
    }
}

// Where its states are on the device. What no pass over memory explains is the host's pace or, of Muon, products.
void add_optimizer(const Plan& plan, std::uint32_t stage, DeviceRoofline& found) {
    const Stage& own = plan.stages[stage];
    if (own.optimizer.value <= 0.0) return;
    KernelClassUse use{.name = "optimizer", .time = own.optimizer};
    const Job& job = plan.job;
    if (job.optimizer.rule == UpdateRule::muon) {
        use.flops = orthogonalisation_flops(job, own);
        use.peak = plan.device.peak(Precision::bf16);
        use.computing = orthogonalisation(plan, own);
    }
    if (job.optimizer.states == StatesOn::device) {
        const Seconds passes = passes_of_update(plan, own);
        use.moving = passes - std::min(use.computing, passes);
        use.bytes = moved_in(use.moving, plan.device);
    }
    use.gaps = use.time - use.computing - use.moving;
    found.kernels.push_back(std::move(use));
}

// Alone, on links that carry what their data sheets say.
Seconds line_time(const Program& program, const Communication& what, const Topology& topology) {
    Seconds sum;
    for (const Leg& leg : program.legs_of(what)) {
        BytesPerSecond rate{std::numeric_limits<double>::infinity()};
        for (const LinkLoad& load : program.patterns[leg.pattern].loads) {
            rate = std::min(rate, topology.link(load.link).nominal / load.load);
        }
        if (leg.bytes.value > 0.0) sum += leg.bytes / rate;
    }
    return sum;
}

struct Times {
    OpId one{};  // of them
    std::uint64_t calls = 0;
    std::int64_t ticks = 0;
};

// The link on which its bytes are longest, and what it takes, by cause.
FabricUse use_of(const Simulation& run, const PathCauses& causes, const Communication& what, const Times& times) {
    const auto calls = static_cast<double>(times.calls);
    FabricUse use{.dimension = lanes::dimension_name(what.dimension),
                  .link = "none",
                  .calls = times.calls,
                  .bytes = what.message * (bus_factor(what.op, what.group_size) * calls),
                  .time = since_start({times.ticks}),
                  .line = line_time(run.step.program, what, run.topology()) * calls};
    const Instant end{times.ticks / static_cast<std::int64_t>(times.calls)};
    std::int64_t most = 0;
    for (const CauseTime& part : causes.of({times.one, Instant{}, end})) {
        const Seconds time = since_start({part.ticks}) * calls;
        if (part.cause.name == "latency") {
            use.latency += time;
        } else if (part.cause.name == "sharing") {
            use.sharing += time;
        } else {
            (part.cause.link == "channels" ? use.endpoint : use.transfer) += time;
            if (part.ticks <= most) continue;
            most = part.ticks;
            use.link = part.cause.link;
        }
    }
    return use;
}

void add(const FabricUse& one, FabricUse& sum) {
    sum.calls += one.calls;
    sum.bytes += one.bytes;
    sum.time += one.time;
    sum.transfer += one.transfer;
    sum.endpoint += one.endpoint;
    sum.latency += one.latency;
    sum.sharing += one.sharing;
    sum.line += one.line;
}

}  // namespace

std::string_view KernelClassUse::bound() const {
    if (gaps > computing && gaps > moving) return "gaps between kernels";
    return computing > moving ? "products" : "memory";
}

Seconds DeviceRoofline::busy() const {
    Seconds sum = other;
    for (const KernelClassUse& use : kernels) sum += use.time;
    return sum;
}

FlopsPerSecond DeviceRoofline::roof(const KernelClassUse& use) const {
    return std::min(use.peak, FlopsPerSecond{use.intensity() * memory.value});
}

DeviceRoofline device_roofline(const Plan& plan, std::uint32_t stage) {
    const Device& device = plan.device;
    const Precision precision = plan.job.precision;
    const double plateau = is_narrow(precision) ? device.gemm_eighth.plateau : device.gemm.plateau;
    DeviceRoofline found{.peak = device.peak(precision),
                         .sustained = device.peak(precision) * (device.sustained(precision) * plateau),
                         .memory = device.memory_bandwidth,
                         .sustained_memory = device.memory_bandwidth * device.memory_efficiency};
    add_kernels(plan, stage, found);
    add_optimizer(plan, stage, found);
    std::ranges::stable_sort(found.kernels, std::ranges::greater{},
                             [](const KernelClassUse& use) { return use.time.value; });
    const auto known = sum_of<Seconds>(found.kernels, &KernelClassUse::time);
    Seconds all;
    const Script script = step_script(plan, stage, plan.job.step);
    for (const Action& action : script.actions()) {
        if (action.kind == Action::Kind::compute) all += script.work()[action.subject];
    }
    constexpr double rounding = 1e-9;
    found.other = all - known > all * rounding ? all - known : Seconds{};
    return found;
}

namespace {

std::string kind_text(const Transformer& model, LayerKind kind) {
    std::vector<std::string> words;
    if (!model.kinds.empty()) words.push_back(model.kinds[std::size_t(kind) / kinds_of_a_layer].name);
    if (has_experts(kind)) words.emplace_back("experts");
    if (words.empty()) words.emplace_back("dense");
    if (is_windowed(kind)) words.emplace_back("window");
    return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::vector<LayerKindUse> kinds_of_layers(const Plan& plan, std::uint32_t stage) {
    const Transformer& model = plan.job.model;
    std::vector<LayerKindUse> uses;
    std::vector<std::optional<std::size_t>> places(layer_kinds(model));
    for (const Chunk& chunk : plan.stages[stage].chunks) {
        for (std::uint32_t i = 0; i < chunk.layers; ++i) {
            const LayerKind kind = layer_kind(model, chunk.first_layer + i);
            std::optional<std::size_t>& place = places[std::size_t(kind)];
            if (place) {
                ++uses[*place].layers;
                continue;
            }
            place = uses.size();
            LayerKindUse& use = uses.emplace_back(LayerKindUse{.kind = kind_text(model, kind), .layers = 1});
            const LayerCosts& costs = plan.costs.layers[plan.job.layer_place(chunk.first_layer + i)];
            use.forward = costs.forward_time();
            use.backward = costs.backward_time();
            const auto modules = layer_modules(model, kind, plan.job.split());
            use.parameters = sum_of<double>(modules, [](const Module& own) { return double(module_parameters(own)); });
            use.activations = kept_activations(plan.job, chunk, i);
        }
    }
    return uses.size() > 1 ? uses : std::vector<LayerKindUse>{};
}

std::string_view FabricUse::bound() const {
    const double most = std::max({transfer.value, endpoint.value, latency.value, sharing.value});
    if (most == transfer.value) return "bandwidth";
    if (most == endpoint.value) return "endpoint";
    return most == latency.value ? "latency" : "sharing";
}

std::vector<FabricUse> fabric_roofline(const Simulation& run, const PathCauses& causes, std::uint32_t stage) {
    const Program& program = run.step.program;
    const RankClass& own = program.classes[run.step.class_of_stage(stage)];
    std::map<CommunicationId, Times> calls;
    for (OpId op{own.begin_op()}; index(op) < own.end_op(); op = next(op)) {
        if (program.ops[op].kind != OpKind::exchange) continue;
        Times& times = calls[program.communication_of(program.ops[op])];
        const Span& span = run.timeline.spans[op];
        times.one = op;
        ++times.calls;
        times.ticks += span.end.femtoseconds - span.begin.femtoseconds;
    }
    std::map<std::pair<std::string, std::string>, FabricUse> sums;
    for (const auto& [id, times] : calls) {
        FabricUse one = use_of(run, causes, program.communications[id], times);
        const auto [sum, fresh] = sums.try_emplace({one.dimension, one.link}, one);
        if (!fresh) add(one, sum->second);
    }
    std::vector<FabricUse> uses;
    for (auto& [key, use] : sums) uses.push_back(std::move(use));
    std::ranges::stable_sort(uses, std::ranges::greater{}, [](const FabricUse& use) { return use.time.value; });
    return uses;
}

}  // namespace weft
