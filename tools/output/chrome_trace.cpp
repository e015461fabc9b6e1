#include "tools/output/chrome_trace.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "sim/base/check.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/text_stream.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

template <class Names>
std::vector<std::string> json_texts(const Names& names) {
    std::vector<std::string> all;
    for (const auto& name : names) all.push_back(json_string(name));
    return all;
}

constexpr std::uint32_t no_communication = std::numeric_limits<std::uint32_t>::max();

// What slices of one name have in common on a lane, from their last number to their end: made once, used millions of
// times.
struct SliceTail {
    LaneId lane{};
    std::uint32_t communication = no_communication;
    std::string text{};
};

class Writer {
  public:
    Writer(const std::filesystem::path& path, const Program& program, const Timeline& timeline,
           const Topology& topology, const ChromeTraceOptions& options)
        : program_(program),
          timeline_(timeline),
          topology_(topology),
          options_(options),
          shown_(options.classes.empty() ? all_classes(program) : options.classes),
          lanes_(json_texts(program.lanes)),
          labels_(json_texts(program.labels)),
          tails_(labels_.size()),
          arrows_(program.exchanges.size()),
          out_(path) {
        for (const Communication& what : program.communications) {
            bus_bytes_.push_back(what.message.value * bus_factor(what.op, what.group_size));
            const Method& method = program.methods[what.method];
            details_.push_back(fmt::format(R"(,"operation":"{}","group_size":{},"message_bytes":{:.0f})", name(what.op),
                                           what.group_size, what.message.value));
            if (method == Method{}) continue;
            details_.back() += fmt::format(R"(,"algorithm":"{}","protocol":"{}","channels":{})", method.algorithm,
                                           method.protocol, method.channels);
        }
    }

    // Returns a warning, empty if nothing was left out.
    std::string write() {
        out_.format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"title\":{}}},\"traceEvents\":[\n",
                    json_string(options_.title));
        for (const RankClassId c : shown_) name_class(c);
        name_process(network_process(), "network");
        for (const RankClassId c : shown_) class_slices(c);
        for (std::size_t i = 0; i < arrows_.size(); ++i) arrow(i);
        for (const CounterSeries& series : options_.counters) counter(series);
        utilization();
        out_.put("\n]}\n").commit();
        if (left_out_ == 0) return "";
        return fmt::format("the trace holds the first {} slices; {} more were left out, from the last rank classes",
                           slices_, left_out_);
    }

  private:
    // One end of a flow: a time inside a slice that was written. thread 0: there is none.
    struct End {
        std::uint32_t process = 0, thread = 0;
        std::int64_t at = 0;
    };
    struct Arrow {
        End from, to;
    };

    void separate() {
        if (!is_first_) out_.put(",\n");
        is_first_ = false;
    }

    template <class... Args>
    void event(fmt::format_string<Args...> format, Args&&... args) {
        separate();
        out_.format(format, std::forward<Args>(args)...);
    }

    static std::vector<RankClassId> all_classes(const Program& program) {
        std::vector<RankClassId> all;
        for (RankClassId c{}; c != program.classes.end_id(); c = next(c)) all.push_back(c);
        return all;
    }

    // Thread numbers are unique in the whole trace and never those of a process, whose thread of equal number readers
    // take for its main one and move to the top.
    static std::size_t process(RankClassId c) { return index(c) + 1; }
    std::size_t network_process() const { return program_.classes.size() + 1; }
    std::size_t thread(RankClassId c, LaneId lane) const {
        return network_process() + index(c) * program_.lanes.size() + index(lane) + 1;
    }

    void name_process(std::size_t pid, std::string_view name) {
        event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid, json_string(name));
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

    // Heads of slices by lane, up to the time.
    std::vector<std::string> heads(RankClassId c) const {
        std::vector<std::string> texts;
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            const std::size_t tid = thread(c, LaneId(static_cast<std::uint8_t>(lane)));
            texts.push_back(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":)", process(c), tid));
        }
        return texts;
    }

    void class_slices(RankClassId c) {
        const RankClass& rank_class = program_.classes[c];
        const std::vector<std::string> lane_heads = heads(c);
        for (std::uint32_t i = 0; i < rank_class.ops; ++i) {
            const auto id = OpId(rank_class.first_op + i);
            const Op& op = program_.ops[id];
            if (op.kind == OpKind::join) continue;
            const std::string_view head = lane_heads[index(op.lane)];
            const Span& span = timeline_.spans[id];
            const std::int64_t posted = nanoseconds(span.posted), begin = nanoseconds(span.begin),
                               end = nanoseconds(span.end);
            if (posted != begin)
                slice(op, head, posted, begin, {}, tail(waits_, "\"wait\"", op.lane, no_communication));
            if (begin == end) continue;
            const bool is_exchange = op.kind == OpKind::exchange;
            const std::uint32_t communication =
                is_exchange ? static_cast<std::uint32_t>(index(program_.communication_of(op))) : no_communication;
            const std::size_t label = index(op.label);
            const double bus = is_exchange ? bus_bytes_[communication] / (span.end - span.begin).value : 0.0;
            const bool is_written = slice(op, head, begin, end, {begin - posted, static_cast<std::uint64_t>(bus)},
                                          tail(tails_[label], labels_[label], op.lane, communication));
            if (is_written && is_exchange) anchor(c, op, begin, end);
        }
    }

    // `known`: those of slices called `name`. Good until the next call.
    std::string_view tail(std::vector<SliceTail>& known, std::string_view name, LaneId lane,
                          std::uint32_t communication) const {
        for (const SliceTail& each : known) {
            if (each.lane == lane && each.communication == communication) return each.text;
        }
        const std::string details = communication == no_communication ? "" : details_[communication];
        known.push_back(
            {lane, communication, fmt::format(R"({}}},"name":{},"cat":{}}})", details, name, lanes_[index(lane)])});
        return known.back().text;
    }

    // What only one slice has.
    struct Own {
        std::int64_t waited = 0;          // before it, for others
        std::uint64_t bus_bandwidth = 0;  // in bytes per second; 0: it carries nothing
    };

    // Returns whether there was room for it.
    bool slice(const Op& op, std::string_view head, std::int64_t begin, std::int64_t end, Own own,
               std::string_view tail) {
        if (slices_ == options_.most_slices) {
            ++left_out_;
            return false;
        }
        ++slices_;
        separate();
        put_time(out_.put(head), begin).put(",\"dur\":");
        put_length(begin, end).put(",\"args\":{\"micro_batch\":").put(std::uint64_t{op.index});
        out_.put(",\"layer\":").put(std::uint64_t{op.part});
        if (own.waited > 0) put_time(out_.put(",\"wait_us\":"), own.waited);
        if (own.bus_bandwidth > 0) out_.put(",\"busbw_bytes_per_s\":").put(own.bus_bandwidth);
        out_.put(tail);
        return true;
    }

    // Viewers add ts and dur as doubles. Where the sum would pass the end, so that a slice that begins there seems to
    // overlap, the length is a tenth of a nanosecond less.
    TextStream& put_length(std::int64_t begin, std::int64_t end) {
        const auto read = [](std::int64_t time) { return static_cast<double>(time) / 1e3; };
        if (read(begin) + read(end - begin) <= read(end)) return put_time(out_, end - begin);
        return put_time(out_, end - begin - 1).put("9");
    }

    // A communication from one to another leaves from the lane it belongs to. The arrow starts with its slice and
    // arrives in its last nanosecond, since the end itself belongs to the next slice.
    void anchor(RankClassId c, const Op& op, std::int64_t begin, std::int64_t end) {
        const auto id = ExchangeId(op.subject);
        const Communication& what = program_.communications[program_.exchanges[id].communication];
        if (what.op != Collective::point_to_point) return;
        Arrow& arrow = arrows_[op.subject];
        if (op.lane == what.dimension && arrow.from.thread == 0) {
            arrow.from = end_at(c, op.lane, begin);
        } else {
            arrow.to = end_at(c, op.lane, end - 1);
        }
    }

    End end_at(RankClassId c, LaneId lane, std::int64_t at) const {
        return {static_cast<std::uint32_t>(process(c)), static_cast<std::uint32_t>(thread(c, lane)), at};
    }

    void arrow(std::size_t id) {
        const auto& [from, to] = arrows_[id];
        if (from.thread == 0 || to.thread == 0) return;
        arrow_end(R"({"ph":"s","pid":)", from, id);
        arrow_end(R"({"ph":"f","bp":"e","pid":)", to, id);
    }

    void arrow_end(std::string_view head, const End& end, std::size_t id) {
        separate();
        out_.put(head).put(std::uint64_t{end.process}).put(",\"tid\":").put(std::uint64_t{end.thread});
        put_time(out_.put(",\"ts\":"), end.at).put(R"(,"cat":"message","name":"message","id":)").put(std::uint64_t{id});
        out_.put("}");
    }

    void counter(std::size_t pid, Instant at, std::string_view name, std::string_view unit, double value) {
        separate();
        out_.put(R"({"ph":"C","pid":)").put(std::uint64_t{pid}).put(",\"ts\":");
        put_time(out_, nanoseconds(at)).put(",\"name\":").put(name).put(",\"args\":{").put(unit).put(":");
        if (value >= 1.0 && value < 1e15 && value == std::floor(value)) {
            out_.put(static_cast<std::uint64_t>(value));
        } else {
            out_.format("{:.6g}", value);
        }
        out_.put("}}");
    }

    void counter(const CounterSeries& series) {
        WEFT_CHECK(index(series.rank_class) < program_.classes.size(), "a counter of an unknown rank class");
        const std::string name = json_string(series.name), unit = json_string(series.unit);
        for (const auto& [at, value] : series.points) counter(process(series.rank_class), at, name, unit, value);
    }

    // Samples come class by class; each class ends with a zero, so that its last value is not drawn for ever.
    void utilization() {
        const auto& samples = timeline_.samples;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const LinkClassId link_class = samples[i].link_class;
            const std::string name = json_string(topology_.classes[link_class].name);
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
    std::vector<RankClassId> shown_;
    std::vector<std::string> lanes_, labels_;    // as JSON
    std::vector<double> bus_bytes_;              // by communication: bus bandwidth x time
    std::vector<std::string> details_{};         // by communication: its arguments
    std::vector<std::vector<SliceTail>> tails_;  // by label
    std::vector<SliceTail> waits_{};
    std::vector<Arrow> arrows_;  // by exchange
    TextStream out_;
    std::size_t slices_ = 0, left_out_ = 0;  // left_out_: beyond most_slices, last rank classes first
    bool is_first_ = true;
};

}  // namespace

std::string write_chrome_trace(const std::filesystem::path& path, const Program& program, const Timeline& timeline,
                               const Topology& topology, const ChromeTraceOptions& options) {
    return Writer(path, program, timeline, topology, options).write();
}

}  // namespace weft
