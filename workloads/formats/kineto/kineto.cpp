// Traces of PyTorch's profiler: what is in them, and one as a rank of a recorded program. `weft compare` and `weft
// calibrate` go on from there, too.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "topologies/machine.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/recorded/reading.hpp"
#include "workloads/recorded/recorded_step.hpp"
#include "workloads/recorded/work_class.hpp"

namespace weft {
namespace {

bool is_profile(const SourceFile& file) { return contains(file.text, "\"traceEvents\""); }

// Kernels alone: copies and fills are no computation.
Import import_profile(std::span<const SourceFile> files, const FormatOptions&) {
    const KinetoTrace trace = read_kineto(ByteSource(files.front().path, files.front().text));
    std::size_t kernels = 0, calls = 0;
    std::int64_t communicating = 0, computing = 0;  // ns
    for (const DeviceEvent& event : trace.kernels) {
        if (event.kind != DeviceEvent::Kind::kernel) continue;
        ++kernels;
        const bool is_call = work_class(Launched{.kernel = trace.texts[event.name], .operation = {}, .dims = {}}) ==
                             WorkClass::communication;
        calls += is_call ? 1 : 0;
        (is_call ? communicating : computing) += event.end - event.begin;
    }
    const auto microseconds = [](std::int64_t time) { return fmt::format("{}", static_cast<double>(time) / 1000.0); };
    Import import;
    import.kind = FormatKind::trace;
    import.facts = {{"kernels", fmt::to_string(kernels)},
                    {"communication_kernels", fmt::to_string(calls)},
                    {"communication_us", microseconds(communicating)},
                    { "compute_us",
                      microseconds(computing) }};
    if (trace.rank >= 0) import.facts.push_back({"rank", fmt::to_string(trace.rank)});
    if (trace.ranks >= 0) import.facts.push_back({"ranks", fmt::to_string(trace.ranks)});
    return import;
}

// A trace as one rank of a recorded program. Kernels of a stream follow one another, each no
// sooner than its launch by the host, whose own time lies between its launches, and what it synchronised with; a call
// follows what was computed before it, a computation the calls that it waited for: which streams wait for which events
// the profiler does not say, so it is told from the times. Of several steps the one in the middle.

// A device begins a kernel that is in its queue within a few us, which belong to the kernel.
constexpr std::int64_t at_once = 20'000;  // ns
constexpr std::uint32_t none = 0xffffffff;

Seconds seconds(std::int64_t nanoseconds) { return Seconds{static_cast<double>(nanoseconds) * 1e-9}; }

class RankReader {
  public:
    RankReader(const KinetoTrace& trace, ByteSource& source, std::uint32_t number, RecordedReading& reading)
        : trace_(trace),
          step_(recorded_step(trace, 0, WhichStep::middle)),
          source_(source),
          reading_(reading),
          rank_(reading.begin_rank(number, source)) {}

    void read() {
        rank_.recorded = seconds(step_.duration());
        for (std::uint32_t i = 0; i < step_.kernels.size(); ++i) add_kernel(i);
        add_host();
        RecordedReading::set_dependencies(rank_, dependencies_);
    }

  private:
    // What a stream has done so far.
    struct Stream {
        std::vector<std::uint32_t> kernels;  // of the step, in order
        std::size_t over = 0;                // of these, that had ended when the kernel at hand began
    };

    const DeviceEvent& event(std::uint32_t kernel) const { return trace_.kernels[step_.kernels[kernel].event]; }
    const std::string& text(std::uint32_t id) const { return trace_.texts[id]; }
    bool is_call(std::uint32_t kernel) const { return step_.kernels[kernel].what == WorkClass::communication; }
    void wait(std::uint32_t node, std::uint32_t on) { dependencies_.push_back({node, on, false}); }

    void add_kernel(std::uint32_t i) {
        const DeviceEvent& own = event(i);
        RecordedNode node{.id = i, .time = seconds(own.end - own.begin)};
        node.name = reading_.names(text(own.name));
        Stream& stream = streams_[own.stream];
        const std::uint32_t before = stream.kernels.empty() ? none : stream.kernels.back();
        if (before != none) wait(i, before);
        wait_for_others(i, before);
        if (is_call(i)) {
            fill(node, own);
        } else {
            node.kind = RecordedKind::compute;
            node.unit = reading_.unit(rank_, fmt::format("stream {}", own.stream), false);
            const std::int64_t gap = before == none ? 0 : own.begin - event(before).end;
            const bool follows = before != none && step_.kernels[i].launched <= event(before).end;
            if (follows && gap > 0 && gap <= at_once) node.time += seconds(gap);
        }
        stream.kernels.push_back(i);
        reading_.add(rank_, node, source_);
    }

    // Kernels of other streams: a call waits for the last computation that was over; a computation that did not begin
    // although it had been launched, for what ended right before it.
    void wait_for_others(std::uint32_t i, std::uint32_t before) {
        const std::int64_t begin = event(i).begin, launched = step_.kernels[i].launched;
        const std::int64_t free = before == none ? step_.begin : event(before).end;
        for (auto& [number, other] : streams_) {
            if (number == event(i).stream) continue;
            while (other.over < other.kernels.size() && event(other.kernels[other.over]).end <= begin) ++other.over;
            if (other.over == 0) continue;
            const std::uint32_t last = other.kernels[other.over - 1];
            const std::int64_t end = event(last).end;
            const bool is_awaited = end > free && end > launched && begin - end <= at_once;
            if (is_awaited || (is_call(i) && !is_call(last))) wait(i, last);
        }
    }

    void fill(RecordedNode& node, const DeviceEvent& own) {
        const KinetoCall call = own.call == DeviceEvent::no_call ? KinetoCall{} : trace_.calls[own.call];
        const std::string_view op = operation_of(text(call.op));
        node.bytes = Bytes{call.in * bytes_of_type(text(call.type))};
        if (op == "send" || op == "recv") return message(node, call, op == "send");
        node.kind = RecordedKind::collective;
        node.partner = group(call);
        if (const auto known = find_collective(op)) {
            node.op = *known;
            return;
        }
        reading_.mistakes.add(rank_, node,
                              call.op == 0
                                  ? "is a call that does not say which: record with PyTorch 2.3 or newer"
                                  : fmt::format("is a {}, which no library of weft's machines has", text(call.op)));
    }

    void message(RecordedNode& node, const KinetoCall& call, bool sends) {
        node.kind = sends ? RecordedKind::send : RecordedKind::receive;
        const std::int64_t other = sends ? call.target : call.source;
        node.tag = reading_.names(text(call.group));
        if (other >= 0 && other < most_recorded_ranks) {
            node.partner = static_cast<std::uint32_t>(other);
        } else {
            reading_.mistakes.add(rank_, node, sends ? "has no Dst Rank" : "has no Src Rank");
        }
    }

    // By the ranks that the call tells, or its group's by name.
    std::uint32_t group(const KinetoCall& call) {
        const std::string &members = text(call.members), &name = text(call.group);
        std::vector<std::uint32_t> ranks;
        if (members.find("...") == members.npos) {
            for (const std::vector<double>& list : dims_of('[' + members + ']')) {
                for (const double each : list) ranks.push_back(static_cast<std::uint32_t>(std::min(each, 4e9)));
            }
        }
        const auto known = trace_.groups.find(name);
        if (ranks.empty() && known != trace_.groups.end()) ranks = known->second;
        if (ranks.empty() && trace_.ranks > 0 && call.ranks == trace_.ranks) return 0;
        return ranks.empty() ? reading_.undefined_group(name) : reading_.group(ranks);
    }

    // What the host does between launches, and before them what it waited for.
    void add_host() {
        const std::uint16_t unit = reading_.unit(rank_, "host", true);
        const std::vector<HostEvent> waits = trace_.waits();
        auto launches = numbers_below<std::uint32_t>(step_.kernels.size()), ends = launches;
        std::ranges::stable_sort(launches, {}, [&](std::uint32_t i) { return step_.kernels[i].launched; });
        std::ranges::stable_sort(ends, {}, [&](std::uint32_t i) { return event(i).end; });
        std::int64_t at = step_.begin;
        auto waited = waits.begin();
        std::size_t ended = 0;
        for (const std::uint32_t kernel : launches) {
            const std::int64_t launched = std::max(step_.kernels[kernel].launched, at);
            const auto number = static_cast<std::uint32_t>(rank_.nodes.size());
            std::int64_t time = launched - at;
            for (; waited != waits.end() && waited->end <= launched; ++waited) {
                if (waited->begin < at) continue;
                time -= waited->end - waited->begin;
                while (ended < ends.size() && event(ends[ended]).end <= waited->end) ++ended;
                if (ended > 0 && step_.kernels[ends[ended - 1]].launched < waited->begin) wait(number, ends[ended - 1]);
            }
            RecordedNode node{.id = number, .time = seconds(std::max<std::int64_t>(time, 0))};
            node.kind = RecordedKind::compute;
            node.unit = unit;
            node.name = reading_.names("launch");
            if (number > step_.kernels.size()) wait(number, number - 1);
            wait(kernel, number);
            reading_.add(rank_, node, source_);
            at = launched;
        }
    }

    const KinetoTrace& trace_;
    const RecordedStep step_;
    ByteSource& source_;
    RecordedReading& reading_;
    RecordedRank& rank_;
    std::map<std::int32_t, Stream> streams_;
    std::vector<ReadDependency> dependencies_;
};

}  // namespace

void read_profiled_rank(ByteSource& source, std::optional<std::uint32_t> named, RecordedReading& reading) {
    const KinetoTrace trace = read_kineto(source);
    const bool is_told = trace.rank >= 0 && trace.rank < most_recorded_ranks;
    if (!is_told && !named) source.refuse("neither its distributedInfo nor its name says its rank, as in NAME.3.json");
    RankReader(trace, source, is_told ? static_cast<std::uint32_t>(trace.rank) : *named, reading).read();
}

namespace formats {

extern const Format kineto{"kineto", "trace of PyTorch's profiler (Kineto)", is_profile, import_profile,
                           "one trace at a time: weft compare JOB TRACE... takes several"};

}  // namespace formats
}  // namespace weft
