#include "tools/output/chrome_trace.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/io/atomic_file.hpp"
#include "tools/output/gzip.hpp"

namespace weft {
namespace {

// Bytes that are no UTF-8 are replaced, not refused: a trace is worth more than its labels.
std::string json_text(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class Names>
std::vector<std::string> json_texts(const Names& names) {
    std::vector<std::string> all;
    for (const auto& name : names) all.push_back(json_text(name));
    return all;
}

std::int64_t nanoseconds(Instant t) { return (t.femtoseconds + 500'000) / 1'000'000; }

// With three decimals, straight from the integer: a double would round late times.
std::string microseconds(std::int64_t nanoseconds) {
    return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

class Writer {
  public:
    Writer(const Program& program, const Timeline& timeline, const Topology& topology,
           const ChromeTraceOptions& options)
        : program_(program),
          timeline_(timeline),
          topology_(topology),
          options_(options),
          lanes_(json_texts(program.lanes)),
          labels_(json_texts(program.labels)),
          arrows_(program.exchanges.size()) {}

    ChromeTrace write() {
        trace_.json = fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"title\":{}}},\"traceEvents\":[\n",
                                  json_text(options_.title));
        for (RankClassId c{}; c != program_.classes.end_id(); c = next(c)) name_class(c);
        name_process(network_process(), "network");
        for (RankClassId c{}; c != program_.classes.end_id(); c = next(c)) class_slices(c);
        for (std::size_t i = 0; i < arrows_.size(); ++i) arrow(i);
        for (const CounterSeries& series : options_.counters) counter(series);
        utilization();
        trace_.json += "\n]}\n";
        return std::move(trace_);
    }

  private:
    // One end of a flow: a time inside a slice that was written. thread 0: there is none.
    struct End {
        std::size_t process = 0, thread = 0;
        std::int64_t at = 0;
    };
    struct Arrow {
        End from, to;
    };

    template <class... Args>
    void event(fmt::format_string<Args...> format, Args&&... args) {
        trace_.json += is_first_ ? "" : ",\n";
        is_first_ = false;
        fmt::format_to(std::back_inserter(trace_.json), format, std::forward<Args>(args)...);
    }

    // Thread numbers are unique in the whole trace and never those of a process, whose thread of equal number readers
    // take for its main one and move to the top.
    static std::size_t process(RankClassId c) { return index(c) + 1; }
    std::size_t network_process() const { return program_.classes.size() + 1; }
    std::size_t thread(RankClassId c, LaneId lane) const {
        return network_process() + index(c) * program_.lanes.size() + index(lane) + 1;
    }

    void name_process(std::size_t pid, std::string_view name) {
        event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid, json_text(name));
        event(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", pid, pid);
    }

    void name_class(RankClassId c) {
        const RankClass& rank_class = program_.classes[c];
        const std::string ranks = rank_class.weight == 1 ? "" : fmt::format(" ({} ranks)", rank_class.weight);
        name_process(process(c), rank_class.name + ranks);
        const std::vector<bool> used = used_lanes(rank_class);
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            if (!used[lane]) continue;
            const std::size_t tid = thread(c, LaneId(static_cast<std::uint8_t>(lane)));
            event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process(c), tid,
                  lanes_[lane]);
            event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", process(c),
                  tid, lane);
        }
    }

    // Lanes that a class has something on: readers show a named lane even if it is empty.
    std::vector<bool> used_lanes(const RankClass& rank_class) const {
        std::vector<bool> used(lanes_.size(), false);
        for (std::uint32_t i = 0; i < rank_class.ops; ++i) {
            const auto id = OpId(rank_class.first_op + i);
            const Op& op = program_.ops[id];
            const Span& span = timeline_.spans[id];
            if (op.kind != OpKind::join && span.posted != span.end) used[index(op.lane)] = true;
        }
        return used;
    }

    void class_slices(RankClassId c) {
        const RankClass& rank_class = program_.classes[c];
        for (std::uint32_t i = 0; i < rank_class.ops; ++i) {
            const auto id = OpId(rank_class.first_op + i);
            const Op& op = program_.ops[id];
            const Span& span = timeline_.spans[id];
            if (op.kind == OpKind::join) continue;
            slice(c, op, "\"wait\"", nanoseconds(span.posted), nanoseconds(span.begin), "");
            const bool is_exchange = op.kind == OpKind::exchange;
            const std::string details = is_exchange ? exchange_details(op, span) : "";
            const std::int64_t begin = nanoseconds(span.begin), end = nanoseconds(span.end);
            if (slice(c, op, labels_[index(op.label)], begin, end, details) && is_exchange) anchor(c, op, begin, end);
        }
    }

    // Returns whether it was written.
    bool slice(RankClassId c, const Op& op, std::string_view name, std::int64_t begin, std::int64_t end,
               std::string_view details) {
        if (begin == end) return false;
        if (trace_.slices == options_.most_slices) {
            ++trace_.left_out;
            return false;
        }
        ++trace_.slices;
        event(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":{},)"
              R"("args":{{"micro_batch":{},"layer":{}{}}}}})",
              process(c), thread(c, op.lane), microseconds(begin), microseconds(end - begin), name,
              lanes_[index(op.lane)], op.index, op.part, details);
        return true;
    }

    std::string exchange_details(const Op& op, const Span& span) const {
        const Exchange& exchange = program_.exchanges[ExchangeId(op.subject)];
        const Communication& what = program_.communications[exchange.communication];
        return fmt::format(R"(,"operation":"{}","group_size":{},"message_bytes":{:.0f},"wait_us":{})", name(what.op),
                           what.group_size, what.message.value,
                           microseconds(nanoseconds(span.begin) - nanoseconds(span.posted)));
    }

    // A communication from one to another leaves from the lane it belongs to. The arrow starts with its slice and
    // arrives in its last nanosecond, since the end itself belongs to the next slice.
    void anchor(RankClassId c, const Op& op, std::int64_t begin, std::int64_t end) {
        const auto id = ExchangeId(op.subject);
        const Communication& what = program_.communications[program_.exchanges[id].communication];
        if (what.op != Collective::point_to_point) return;
        Arrow& arrow = arrows_[op.subject];
        if (op.lane == what.dimension && arrow.from.thread == 0) {
            arrow.from = {process(c), thread(c, op.lane), begin};
        } else {
            arrow.to = {process(c), thread(c, op.lane), end - 1};
        }
    }

    void arrow(std::size_t id) {
        const auto& [from, to] = arrows_[id];
        if (from.thread == 0 || to.thread == 0) return;
        constexpr std::string_view what = R"("cat":"message","name":"message")";
        event(R"({{"ph":"s","pid":{},"tid":{},"ts":{},{},"id":{}}})", from.process, from.thread, microseconds(from.at),
              what, id);
        event(R"({{"ph":"f","bp":"e","pid":{},"tid":{},"ts":{},{},"id":{}}})", to.process, to.thread,
              microseconds(to.at), what, id);
    }

    void counter(std::size_t pid, Instant at, std::string_view name, std::string_view unit, double value) {
        event(R"({{"ph":"C","pid":{},"ts":{},"name":{},"args":{{{}:{:.6g}}}}})", pid, microseconds(nanoseconds(at)),
              name, unit, value);
    }

    void counter(const CounterSeries& series) {
        WEFT_CHECK(index(series.rank_class) < program_.classes.size(), "a counter of an unknown rank class");
        const std::string name = json_text(series.name), unit = json_text(series.unit);
        for (const auto& [at, value] : series.points) counter(process(series.rank_class), at, name, unit, value);
    }

    // Samples come class by class; each class ends with a zero, so that its last value is not drawn for ever.
    void utilization() {
        const auto& samples = timeline_.samples;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const LinkClassId link_class = samples[i].link_class;
            const std::string name = json_text(topology_.classes[link_class].name);
            counter(network_process(), samples[i].at, name, "\"utilization\"", double{samples[i].mean});
            if (i + 1 == samples.size() || samples[i + 1].link_class != link_class) {
                counter(network_process(), timeline_.end, name, "\"utilization\"", 0.0);
            }
        }
    }

    const Program& program_;
    const Timeline& timeline_;
    const Topology& topology_;
    const ChromeTraceOptions& options_;
    std::vector<std::string> lanes_, labels_;  // as JSON
    std::vector<Arrow> arrows_;                // by exchange
    ChromeTrace trace_;
    bool is_first_ = true;
};

}  // namespace

ChromeTrace chrome_trace(const Program& program, const Timeline& timeline, const Topology& topology,
                         const ChromeTraceOptions& options) {
    return Writer(program, timeline, topology, options).write();
}

std::string write_chrome_trace(const std::filesystem::path& path, const ChromeTrace& trace) {
    write_file_atomically(path, path.extension() == ".gz" ? gzip(trace.json) : trace.json);
    if (trace.left_out == 0) return "";
    return fmt::format("the trace holds the first {} slices; {} more were left out, from the last rank classes",
                       trace.slices, trace.left_out);
}

}  // namespace weft
