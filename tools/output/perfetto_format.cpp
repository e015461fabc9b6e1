// Perfetto's own format, a file of protobuf messages: names are written once and numbered. Source: Perfetto v55,
// protos/perfetto/trace (trace_packet.proto, track_event/*.proto, interned_data/interned_data.proto), whose field
// numbers stand here.
#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/enumerators.hpp"
#include "sim/io/wire.hpp"
#include "tools/output/text_stream.hpp"
#include "tools/output/timeline_trace.hpp"

namespace weft {
namespace {

// Fields that are told by number; a message grows by them.
class Fields {
  public:
    Fields& number(std::uint32_t field, std::uint64_t value) { return append_field(bytes_, field, value), *this; }
    Fields& text(std::uint32_t field, std::string_view value) { return append_field(bytes_, field, value), *this; }
    Fields& message(std::uint32_t field, const Fields& value) { return text(field, value.bytes_); }
    Fields& fixed(std::uint32_t field, std::uint64_t value) {
        append_varint(bytes_, std::uint64_t{field} << 3U | static_cast<std::uint64_t>(WireType::fixed64));
        for (unsigned byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(value >> (8 * byte) & 0xffU);
        return *this;
    }
    Fields& real(std::uint32_t field, double value) { return fixed(field, std::bit_cast<std::uint64_t>(value)); }
    Fields& append(const Fields& more) { return bytes_ += more.bytes_, *this; }
    const std::string& bytes() const { return bytes_; }
    void clear() { bytes_.clear(); }

  private:
    std::string bytes_;
};

// What slices are annotated with, by name and number.
enum Annotation : std::uint32_t {
    micro_batch = 1,
    layer,
    wait_us,
    busbw_bytes_per_s,
    operation,
    group_size,
    message_bytes,
    algorithm,
    protocol,
    channels
};

class PerfettoFormat final : public TraceFormat {
  public:
    PerfettoFormat(const std::filesystem::path& path, const Program& program) : out_(path), lanes_(program.lanes) {
        Fields names;
        const auto intern = [&](std::uint32_t field, std::uint64_t number, std::string_view text) {
            names.message(field, Fields().number(1, number).text(2, text));
        };
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) intern(1, lane + 1, lanes_[lane]);
        for (std::size_t label = 0; label < program.labels.size(); ++label) intern(2, label + 1, program.labels[label]);
        intern(2, program.labels.size() + 1, "wait");
        for (std::uint32_t i = micro_batch; i <= channels; ++i) intern(3, i, enumerator_name(Annotation{i}));
        std::map<std::string, std::uint64_t, std::less<>> words;
        const auto word = [&](std::string_view text) {
            const auto [found, is_new] = words.emplace(text, words.size() + 1);
            if (is_new) intern(29, found->second, text);
            return found->second;
        };
        for (const Communication& what : program.communications) {
            const Method& method = program.methods[what.method];
            Fields& own = details_.emplace_back();
            annotate(own, operation, Fields().number(17, word(name(what.op))));
            annotate(own, group_size, Fields().number(3, what.group_size));
            annotate(own, message_bytes, Fields().number(3, static_cast<std::uint64_t>(what.message.value)));
            if (method == Method{}) continue;
            annotate(own, algorithm, Fields().number(17, word(method.algorithm)));
            annotate(own, protocol, Fields().number(17, word(method.protocol)));
            annotate(own, channels, Fields().number(3, method.channels));
        }
        constexpr std::uint64_t cleared = 1;  // names are numbered from here on
        packet(Fields().message(12, names), cleared);
    }

    void process(std::size_t number, std::string_view name) override {
        constexpr std::uint64_t by_rank = 3;  // of the order in which threads are shown
        track(Fields()
                  .number(1, number)
                  .number(11, by_rank)
                  .number(12, number)
                  .message(3, Fields().number(1, number).text(6, name)));
    }

    void thread(std::size_t process, std::size_t number, LaneId lane) override {
        const Fields thread = Fields().number(1, process).number(2, number).text(5, lanes_[index(lane)]);
        track(Fields().number(1, number).number(5, process).number(12, index(lane)).message(4, thread));
    }

    void slice(const TraceSlice& slice) override {
        event_.clear();
        event_.number(9, 1).number(11, slice.thread).number(3, index(slice.lane) + 1).number(10, slice.label + 1);
        annotate(event_, micro_batch, Fields().number(3, slice.micro_batch));
        annotate(event_, layer, Fields().number(3, slice.layer));
        if (slice.waited > 0) annotate(event_, wait_us, Fields().real(5, static_cast<double>(slice.waited) / 1e3));
        if (slice.bus_bandwidth > 0) annotate(event_, busbw_bytes_per_s, Fields().number(3, slice.bus_bandwidth));
        if (slice.communication != TraceSlice::no_communication) event_.append(details_[slice.communication]);
        if (slice.message == TraceSlice::Message::leaves) event_.fixed(47, slice.exchange + 1);
        event(slice.begin);
        event_.clear();
        event_.number(9, 2).number(11, slice.thread);
        // At its end: both slices begin at one time, and readers want an arrow to leave before it arrives.
        if (slice.message == TraceSlice::Message::arrives) event_.fixed(48, slice.exchange + 1);
        event(slice.end);
    }

    void counter(std::size_t process, Instant at, std::string_view name, std::string_view unit, double value) override {
        constexpr std::uint64_t first = std::uint64_t{1} << 32U;  // above processes and threads
        const auto [found, is_new] = counters_.try_emplace({process, std::string(name)}, first + counters_.size());
        if (is_new) {
            track(
                Fields().number(1, found->second).number(5, process).text(2, name).message(8, Fields().text(6, unit)));
        }
        event_.clear();
        event_.number(9, 4).number(11, found->second).real(44, value);
        event(nanoseconds(at));
    }

    void commit() override { out_.commit(); }

  private:
    static void annotate(Fields& event, Annotation name, const Fields& value) {
        event.message(4, Fields().number(1, name).append(value));
    }

    void event(std::int64_t at) {
        constexpr std::uint64_t numbered = 2;  // names by their numbers
        packet(Fields().number(8, static_cast<std::uint64_t>(at)).message(11, event_), numbered);
    }
    void track(const Fields& descriptor) { packet(Fields().message(60, descriptor), 2); }
    void packet(Fields fields, std::uint64_t flags) {
        constexpr std::uint64_t sequence = 1;
        out_.put(Fields().message(1, fields.number(10, sequence).number(13, flags)).bytes());
    }

    TextStream out_;
    const std::vector<std::string>& lanes_;
    std::vector<Fields> details_;  // by communication: its annotations
    Fields event_;
    std::map<std::pair<std::size_t, std::string>, std::uint64_t> counters_;  // their tracks, by process and name
};

}  // namespace

std::unique_ptr<TraceFormat> perfetto_format(const std::filesystem::path& path, const Program& program) {
    return std::make_unique<PerfettoFormat>(path, program);
}

}  // namespace weft
