// A simulated step as PyTorch's profiler records one (Kineto's Chrome JSON, libkineto/src/output_json.cpp), a file per
// rank: kernels on streams, what launched each (operations with shapes, links to backward by sequence numbers,
// annotations of step and optimizer), calls of the communication library with their groups. As HTA, TensorBoard and
// Perfetto read it, and weft compare. Kernels have the names of the classes that weft counts (work_class.hpp).
//
// The host issues the kernels of a pass evenly, at its simulated pace, no later than the device begins them; where the
// simulated step waits for it, the device is idle between them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workloads/exports/export.hpp"
#include "workloads/exports/slowed_work.hpp"
#include "workloads/recorded/replay.hpp"
#include "workloads/recorded/simulated_work.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

std::string microseconds(std::int64_t nanoseconds) {
    return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

enum Track : std::uint8_t {
    forward_thread = 1,
    backward_thread,
    call_thread,
    compute_stream = 7,
    first_call_stream = 20
};
constexpr int host_process = 1000;  // above the numbers of a node's devices

class TraceWriter {
  public:
    TraceWriter(SimulatedRanks& step, const SimulatedRank& rank, const std::vector<SimulatedComputation>& kernels)
        : step_(step),
          rank_(rank),
          plan_(step.run().plan),
          host_(simulated_host(plan_, step.script(rank.stage), rank, kernels)) {
        for (std::size_t i = 0; i < rank_.record.nodes.size(); ++i) {
            const std::int64_t begin = nanoseconds(rank_.spans[i].begin), end = nanoseconds(rank_.spans[i].end);
            if (rank_.record.nodes[i].kind != RecordedKind::compute) calls_ += Stretch(begin, end);
        }
    }

    std::string write() {
        begin_file();
        for (std::size_t i = 0; i < rank_.record.nodes.size(); ++i) {
            if (rank_.record.nodes[i].kind != RecordedKind::compute) {
                call(i);
            } else if (host_.computations[i] != nullptr) {
                compute(i, *host_.computations[i]);
            } else {
                copy(i);
            }
        }
        flush_passes();
        const std::int64_t end = std::max(nanoseconds(step_.run().timeline.end), launched_ + 1);
        add("user_annotation", "ProfilerStep#1", host_process, forward_thread, 0, end, R"("External id": 0)");
        text_ += "\n]}\n";
        return std::move(text_);
    }

  private:
    // Operations of one pass of autograd or of the optimizer on the host, which lie in one event.
    struct HostPass {
        std::string name;
        std::string_view category;
        std::int64_t begin = 0, end = 0, sequence = -1;
        int thread = forward_thread;
    };

    void begin_file() {
        const RecordedProgram& program = step_.program();
        nlohmann::ordered_json groups = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < program.groups.size(); ++i) {
            const std::vector<std::uint32_t>& ranks = program.groups[i];
            if (std::ranges::find(ranks, index(rank_.rank)) == ranks.end()) continue;
            groups.push_back({{"pg_name", std::to_string(i)}, {"pg_size", ranks.size()}, {"ranks", ranks}});
        }
        // HTA finds the rank by the text `"rank": N`, before the events.
        text_ = fmt::format(
            "{{\"schemaVersion\": 1, \"deviceProperties\": [{{\"id\": 0, \"name\": {}}}], \"record_shapes\": 1,\n"
            "\"simulatedBy\": \"weft\", \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": "
            "{}, "
            "\"pg_count\": {}, \"pg_config\": {}}},\n"
            "\"displayTimeUnit\": \"ms\", \"baseTimeNanoseconds\": 0, \"traceEvents\": [\n",
            nlohmann::json(plan_.device.name).dump(), index(rank_.rank), step_.ranks(), groups.size(), groups.dump());
        name_track("process_name", host_process, 0, fmt::format("host of rank {}", index(rank_.rank)));
        name_track("thread_name", host_process, forward_thread, "forward, optimizer");
        name_track("thread_name", host_process, backward_thread, "backward");
        name_track("thread_name", host_process, call_thread, "communication, copies");
        name_track("process_name", 0, 0, fmt::format("rank {}", index(rank_.rank)));
        name_track("thread_name", 0, compute_stream, "stream 7: computation");
    }

    void name_track(std::string_view what, int process, int thread, std::string_view called) {
        text_ += fmt::format(
            "{}{{\"ph\": \"M\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": 0, \"args\": {{\"name\": "
            "\"{}\"}}}}",
            text_.ends_with("[\n") ? "" : ",\n", what, process, thread, called);
    }

    void add(std::string_view category, std::string_view name, int process, int thread, std::int64_t begin,
             std::int64_t end, std::string_view args) {
        fmt::format_to(std::back_inserter(text_),
                       ",\n{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, "
                       "\"dur\": {}, \"args\": {{{}}}}}",
                       category, name, process, thread, microseconds(begin), microseconds(end - begin), args);
    }

    // Of the host, before it launches something at `by`.
    void add_waits(std::int64_t by) {
        for (; waited_ < host_.waits.size() && host_.waits[waited_].end <= by; ++waited_) {
            const std::int64_t from = std::max(host_.waits[waited_].begin, launched_), to = host_.waits[waited_].end;
            if (from >= to) continue;
            add("cuda_runtime", "cudaStreamSynchronize", host_process, pass_.thread, from, to, "\"stream\": 7");
            launched_ = to;
        }
    }

    void compute(std::size_t node, const SimulatedComputation& what) {
        const std::int64_t begin = nanoseconds(rank_.spans[node].begin), end = nanoseconds(rank_.spans[node].end);
        const Action& action = step_.script(rank_.stage).actions()[rank_.actions[node]];
        enter(what, action.where);
        const HostIssue& issue = host_.issues[node];
        const double kernels = launches(what);
        if (kernels == 0) return;
        const auto busy = sum_of<Seconds>(what.kernels, &SimulatedKernel::time);
        // What slows the computation down slows all of it alike, but for communication.
        const double own = step_.script(rank_.stage).work()[action.subject].value;
        const double slower = own > 0 ? static_cast<double>(end - begin) * 1e-9 / own : 1.0;
        const double wide = static_cast<double>(issue.end - begin) * 1e-9;
        const double gap = std::max(0.0, (wide - busy.value * slower) / kernels);
        // The next kernel follows by itself, if it was launched in time.
        const double prompt = std::min(gap, plan_.device.kernel_launch.value);
        const bool waits = issue.end > end;  // the device for its host
        const SlowedWork slowed({begin, end}, calls_, plan_.device.interference);
        const auto placed = [&](double seconds) {
            const double share = (seconds * 1e9 - static_cast<double>(begin)) / static_cast<double>(end - begin);
            const bool is_slowed = plan_.device.interference > 1.0 && share < 1.0;
            return std::llround(is_slowed ? static_cast<double>(begin) + slowed.time_of(share) : seconds * 1e9);
        };
        double at = static_cast<double>(begin) * 1e-9;
        double by_host = static_cast<double>(issue.begin >= 0 ? issue.begin : launched_);
        for (const SimulatedKernel& kernel : what.kernels) {
            const double each = kernel.time.value * slower / kernel.whole_launches();
            for (double n = 0; n < kernel.whole_launches(); n += 1, by_host += issue.each) {
                at += gap;
                const std::int64_t from = placed(at), to = placed(at + each), in_time = placed(at - prompt);
                launch(issue.each, kernel.shape,
                       waits ? in_time : std::min<std::int64_t>(std::llround(by_host), in_time), from, to);
                at += each;
            }
        }
    }

    void launch(double pace, const ProductShape& what, std::int64_t launched, std::int64_t begin, std::int64_t end) {
        constexpr std::int64_t dispatch = 4'000,
                               longest = 2'000;  // ns: of an operation before it launches, of a launch
        const WorkClassNames& names = names_of(what.what);
        add_waits(std::max(launched, launched_));
        const std::int64_t at = std::max(launched, launched_);
        const std::int64_t over = at + std::clamp<std::int64_t>(std::llround(pace / 4), 1, longest);
        const std::int64_t from = std::max(launched_, at - dispatch);
        ++correlation_;
        if (!names.operation.empty()) {
            add("cpu_op", names.operation, host_process, pass_.thread, from, over + 1, dims_of(what));
        }
        add("cuda_runtime", "cudaLaunchKernel", host_process, pass_.thread, at, over,
            fmt::format("\"correlation\": {}", correlation_));
        add("kernel", names.kernel, 0, compute_stream, std::max(begin, at), std::max(end, at),
            fmt::format("\"stream\": {}, \"device\": 0, \"correlation\": {}", int{compute_stream}, correlation_));
        if (pass_.end == 0) pass_.begin = from;
        pass_.end = launched_ = over + 2;  // longer than what lies in it
    }

    std::string dims_of(const ProductShape& what) const {
        std::string args = fmt::format("\"External id\": {}", correlation_);
        const bool is_core = what.what == WorkClass::attention || what.what == WorkClass::scores;
        if (pass_.thread == forward_thread && pass_.sequence >= 0 && is_core)
            args += fmt::format(", \"Sequence number\": {}", pass_.sequence);
        if (what.m > 0) {
            const std::string count = what.count > 1 ? fmt::format("{}, ", what.count) : "";
            args += fmt::format(", \"Input Dims\": [[{0}{1}, {2}], [{0}{2}, {3}]]", count, what.m, what.k, what.n);
        }
        return args;
    }

    // The event on the host that a computation lies in.
    void enter(const SimulatedComputation& what, const Where& where) {
        HostPass next;
        const std::int64_t micro = where.micro_batch == Where::whole_step ? 0 : where.micro_batch;
        if (what.layer != no_layer) next.sequence = micro * plan_.job.model.layers + what.layer;
        if (what.pass == WorkPass::backward || what.pass == WorkPass::recomputation) {
            const bool again = what.pass == WorkPass::recomputation;
            next.name = fmt::format("autograd::engine::evaluate_function: {}",
                                    again ? "CheckpointFunctionBackward" : "PassBackward0");
            next.category = "cpu_op";
            next.thread = backward_thread;
        } else if (what.pass == WorkPass::optimizer) {
            next.name = "Optimizer.step#step";
            next.category = "user_annotation";
        }
        if (next.name == pass_.name && next.sequence == pass_.sequence) return;
        flush_passes();
        pass_ = std::move(next);
    }

    void flush_passes() {
        if (pass_.end > 0 && !pass_.name.empty()) {
            add(pass_.category, pass_.name, host_process, pass_.thread, pass_.begin, pass_.end,
                pass_.sequence < 0 ? "\"External id\": 0" : fmt::format("\"Sequence number\": {}", pass_.sequence));
        }
        pass_ = {};
    }

    void call(std::size_t node) {
        const RecordedNode& what = rank_.record.nodes[node];
        const bool is_message = what.kind != RecordedKind::collective;
        const auto own = static_cast<std::uint32_t>(rank_.rank);
        const Action& action = step_.script(rank_.stage).actions()[rank_.actions[node]];
        const std::string_view type = name_of_type(step_.script(rank_.stage).calls()[action.subject].type);
        const std::vector<std::uint32_t> pair{std::min(own, what.partner), std::max(own, what.partner)};
        const std::vector<std::uint32_t>& group = is_message ? pair : step_.program().groups[what.partner];
        CallNames names = names_of(what.op);
        if (what.kind == RecordedKind::receive) names.collective = "recv";
        const double whole =
            full_message(what.op, what.bytes, static_cast<std::uint32_t>(group.size())).value / bytes_of_type(type);
        const double part = whole / static_cast<double>(group.size());
        const double in = what.op == Collective::all_gather ? part : whole;
        const double out = what.op == Collective::reduce_scatter ? part : whole;
        const std::size_t lane = index(step_.lane(rank_, node));
        std::string args = fmt::format(
            "\"stream\": {}, \"device\": 0, \"correlation\": {}, \"Collective name\": \"{}\", \"In msg nelems\": "
            "{:.0f}, \"Out msg nelems\": {:.0f}, \"Group size\": {}, \"dtype\": \"{}\", \"Process Group Name\": "
            "\"{}\", \"Process Group Ranks\": \"[{}]\", \"Rank\": {}",
            first_call_stream + lane, ++correlation_, names.collective, in, out, group.size(), type,
            is_message ? fmt::format("p2p_{}_{}_{}", pair[0], pair[1], what.tag) : std::to_string(what.partner),
            fmt::join(group, ", "), own);
        if (is_message) {
            const bool sends = what.kind == RecordedKind::send;
            args += fmt::format(", \"Src Rank\": {}, \"Dst Rank\": {}", sends ? own : what.partner,
                                sends ? what.partner : own);
        }
        launch_beside(node, fmt::format("ncclDevKernel_{}", names.kernel), "kernel",
                      first_call_stream + static_cast<int>(lane), args);
    }

    void copy(std::size_t node) {
        const LaneId lane = step_.lane(rank_, node);
        if (lane == lanes::host) return;
        const auto stream = static_cast<int>(compute_stream + 1 + stream_of(lane));
        launch_beside(node, lane == lanes::store ? "Memcpy DtoH" : "Memcpy HtoD", "gpu_memcpy", stream,
                      fmt::format("\"stream\": {}, \"device\": 0, \"correlation\": {}", stream, ++correlation_));
    }

    // What runs beside computation, launched as soon as all it waits for is over.
    void launch_beside(std::size_t node, std::string_view name, std::string_view category, int stream,
                       std::string_view args) {
        const std::int64_t begin = nanoseconds(rank_.spans[node].begin), end = nanoseconds(rank_.spans[node].end);
        const std::int64_t at = std::max<std::int64_t>({std::min(launched_, begin - 2), issued_, 0});
        issued_ = at + (begin - at > 2'000 ? 1'000 : 1);
        if (streams_.insert(stream).second) name_track("thread_name", 0, stream, fmt::format("stream {}", stream));
        add("cuda_runtime", "cudaLaunchKernel", host_process, call_thread, at, issued_,
            fmt::format("\"correlation\": {}", correlation_));
        add(category, name, 0, stream, std::max(begin, at), std::max(end, at), args);
    }

    SimulatedRanks& step_;
    const SimulatedRank& rank_;
    const Plan& plan_;
    const SimulatedHost host_;
    Stretches calls_;  // when the rank communicates
    std::string text_;
    std::set<int> streams_;  // beside that of computation, that are named
    HostPass pass_;
    std::int64_t launched_ = 0;  // when the host was through with the last launch, ns
    std::int64_t issued_ = 0;    // the same of calls and copies
    std::uint64_t correlation_ = 0;
    std::size_t waited_ = 0;  // of host_.waits, that were written
};

void write_kineto(SimulatedRanks& step, std::span<const RankId> ranks, const FileWriter& write) {
    std::map<std::uint32_t, std::vector<SimulatedComputation>> kernels;  // by stage
    double nodes = 0;
    for (const RankId id : ranks) {
        const std::uint32_t stage = step.stage(id);
        const auto [known, is_new] = kernels.try_emplace(stage);
        if (is_new) known->second = simulated_kernels(step.run().plan, stage);
        for (const SimulatedComputation& each : known->second) nodes += launches(each);
        check_exported_nodes(static_cast<std::uint64_t>(nodes));
    }
    for (const RankId id : ranks) {
        const SimulatedRank rank = step.rank(id);
        write("rank" + std::to_string(index(id)) + ".json", TraceWriter(step, rank, kernels.at(rank.stage)).write());
    }
}

}  // namespace

namespace exports {

extern const ExportFormat kineto{
    .name = "kineto", .title = "traces of a simulated step as PyTorch's profiler records", .step = write_kineto};

}  // namespace exports
}  // namespace weft
