// Chrome's Trace Event format (JSON object form), as ui.perfetto.dev, chrome://tracing and speedscope read it. Format:
// Google's "Trace Event Format"; what the readers really accept: Perfetto v55.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "sim/io/values.hpp"
#include "tools/output/text_stream.hpp"
#include "tools/output/timeline_trace.hpp"

namespace weft {
namespace {

// The numbers of a slice and what stands between them, put together where there is room.
class Line {
  public:
    Line& put(std::string_view text) {
        std::memcpy(text_.data() + size_, text.data(), text.size());
        size_ += text.size();
        return *this;
    }
    Line& put(std::uint64_t number) {
        const fmt::format_int digits(number);
        return put(std::string_view(digits.data(), digits.size()));
    }
    std::string_view text() const { return {text_.data(), size_}; }

  private:
    std::array<char, 512> text_;
    std::size_t size_ = 0;
};

class ChromeFormat final : public TraceFormat {
  public:
    ChromeFormat(const std::filesystem::path& path, const Program& program, std::string_view title)
        : lanes_(list_of<std::string>(program.lanes, json_string)),
          labels_(list_of<std::string>(program.labels, json_string)),
          arrows_(program.exchanges.size()),
          out_(path) {
        labels_.emplace_back("\"wait\"");
        tails_.resize(labels_.size());
        for (const Communication& what : program.communications) {
            const Method& method = program.methods[what.method];
            details_.push_back(fmt::format(R"(,"operation":"{}","group_size":{},"message_bytes":{:.0f})", name(what.op),
                                           what.group_size, what.message.value));
            if (method == Method{}) continue;
            details_.back() += fmt::format(R"(,"algorithm":"{}","protocol":"{}","channels":{})", method.algorithm,
                                           method.protocol, method.channels);
        }
        out_.format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"title\":{}}},\"traceEvents\":[\n",
                    json_string(title));
    }

    void process(std::size_t number, std::string_view name) override {
        event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", number, json_string(name));
        event(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", number, number);
    }

    void thread(std::size_t process, std::size_t number, LaneId lane) override {
        event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process, number,
              lanes_[index(lane)]);
        event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", process,
              number, index(lane));
    }

    void slice(const TraceSlice& slice) override {
        Line line;
        line.put(is_first_ ? "" : ",\n").put(R"({"ph":"X","pid":)").put(std::uint64_t{slice.process});
        is_first_ = false;
        put_time(line.put(R"(,"tid":)").put(std::uint64_t{slice.thread}).put(",\"ts\":"), slice.begin);
        put_length(line.put(",\"dur\":"), slice.begin, slice.end);
        line.put(",\"args\":{\"micro_batch\":").put(std::uint64_t{slice.micro_batch});
        line.put(",\"layer\":").put(std::uint64_t{slice.layer});
        if (slice.waited > 0) put_time(line.put(",\"wait_us\":"), slice.waited);
        if (slice.bus_bandwidth > 0) line.put(",\"busbw_bytes_per_s\":").put(slice.bus_bandwidth);
        out_.put(line.text()).put(tail(slice));
        // The arrow starts with its slice and arrives in its last nanosecond, since the end itself belongs to the next.
        if (slice.message == TraceSlice::Message::leaves) {
            arrows_[slice.exchange].from = {slice.process, slice.thread, slice.begin};
        } else if (slice.message == TraceSlice::Message::arrives) {
            arrows_[slice.exchange].to = {slice.process, slice.thread, slice.end - 1};
        }
    }

    void end_slices() override {
        for (std::size_t i = 0; i < arrows_.size(); ++i) {
            const auto& [from, to] = arrows_[i];
            if (from.thread == 0 || to.thread == 0) continue;
            arrow_end(R"({"ph":"s","pid":)", from, i);
            arrow_end(R"({"ph":"f","bp":"e","pid":)", to, i);
        }
    }

    void counter(std::size_t process, Instant at, std::string_view name, std::string_view unit, double value) override {
        separate();
        out_.put(R"({"ph":"C","pid":)").put(std::uint64_t{process}).put(",\"ts\":");
        put_time(out_, nanoseconds(at)).put(",\"name\":").put(json_string(name));
        out_.put(",\"args\":{").put(json_string(unit)).put(":");
        if (value >= 1.0 && value < 1e15 && value == std::floor(value)) {
            out_.put(static_cast<std::uint64_t>(value));
        } else {
            out_.format("{:.6g}", value);
        }
        out_.put("}}");
    }

    void commit() override { out_.put("\n]}\n").commit(); }

  private:
    // One end of an arrow: a time inside a slice that was written. thread 0: there is none.
    struct End {
        std::size_t process = 0, thread = 0;
        std::int64_t at = 0;
    };
    struct Arrow {
        End from, to;
    };
    // What slices of one name have in common on a lane, from their last number to their end: made once, used millions
    // of times.
    struct Tail {
        LaneId lane{};
        std::uint32_t communication = TraceSlice::no_communication;
        std::string text{};
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

    std::string_view tail(const TraceSlice& slice) {
        std::vector<Tail>& known = tails_[slice.label];
        for (const Tail& each : known) {
            if (each.lane == slice.lane && each.communication == slice.communication) return each.text;
        }
        const bool plain = slice.communication == TraceSlice::no_communication;
        known.push_back({slice.lane, slice.communication,
                         fmt::format(R"({}}},"name":{},"cat":{}}})", plain ? "" : details_[slice.communication],
                                     labels_[slice.label], lanes_[index(slice.lane)])});
        return known.back().text;
    }

    // Viewers add ts and dur as doubles. Where the sum would pass the end, so that a slice that begins there seems to
    // overlap, the length is a tenth of a nanosecond less.
    static void put_length(Line& line, std::int64_t begin, std::int64_t end) {
        const auto read = [](std::int64_t time) { return static_cast<double>(time) / 1e3; };
        const bool passes = read(begin) + read(end - begin) > read(end);
        put_time(line, end - begin - (passes ? 1 : 0)).put(passes ? "9" : "");
    }

    void arrow_end(std::string_view head, const End& end, std::size_t id) {
        separate();
        out_.put(head).put(std::uint64_t{end.process}).put(",\"tid\":").put(std::uint64_t{end.thread});
        put_time(out_.put(",\"ts\":"), end.at).put(R"(,"cat":"message","name":"message","id":)").put(std::uint64_t{id});
        out_.put("}");
    }

    std::vector<std::string> lanes_, labels_;  // as JSON; the last label: a wait
    std::vector<std::string> details_;         // by communication: its arguments
    std::vector<std::vector<Tail>> tails_;     // by label
    std::vector<Arrow> arrows_;                // by exchange
    TextStream out_;
    bool is_first_ = true;
};

}  // namespace

std::unique_ptr<TraceFormat> chrome_format(const std::filesystem::path& path, const Program& program,
                                           std::string_view title) {
    return std::make_unique<ChromeFormat>(path, program, title);
}

}  // namespace weft
