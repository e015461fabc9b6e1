#include "workloads/recorded/kineto_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <type_traits>
#include <utility>

#include "sim/io/diagnostics.hpp"
#include "workloads/recorded/program.hpp"

namespace weft {
namespace {

// Microseconds with up to three decimals, to the nanosecond. A double would not hold them: traces count from the start
// of the machine.
std::int64_t nanoseconds(std::string_view digits) {
    std::int64_t whole = 0;
    const char* const end = digits.data() + digits.size();
    auto [at, error] = std::from_chars(digits.data(), end, whole);
    if (error != std::errc{} || std::abs(whole) > (std::int64_t{1} << 52)) return 0;
    if (at != end && (*at == 'e' || *at == 'E')) return 0;
    std::int64_t part = 0;
    int decimals = 0;
    for (at += at != end && *at == '.'; at != end && decimals < 3 && *at >= '0' && *at <= '9'; ++at, ++decimals) {
        part = part * 10 + (*at - '0');
    }
    for (; decimals < 3; ++decimals) part *= 10;
    return whole * 1000 + (digits.front() == '-' ? -part : part);
}

// 0 for what is none, as texts may be: "nan", "inf".
template <class Number>
Number number_in(std::string_view digits) {
    Number value{};
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if constexpr (std::is_floating_point_v<Number>) return std::isfinite(value) ? value : Number{};
    return value;
}

// An event as it stands in the file, before it is known what it is.
struct Event {
    std::string phase, category, name, process, thread, dims, collective, group, type, members;
    std::int64_t begin = 0, duration = -1, sequence = -1, stream = -1;
    std::uint64_t correlation = 0;
    double ranks = 0, allocated = 0;
    KinetoCall call;  // its numbers
};

// The bytes of a source as a stream: profilers write gigabytes.
class Buffer : public std::streambuf {
  public:
    explicit Buffer(ByteSource& source) : source_(source) {}

  protected:
    int_type underflow() override {
        constexpr std::size_t piece = std::size_t{1} << 16;
        source_.skip(taken_);
        piece_ = source_.peek(piece);
        taken_ = piece_.size();
        setg(piece_.data(), piece_.data(), piece_.data() + piece_.size());
        return piece_.empty() ? traits_type::eof() : traits_type::to_int_type(piece_.front());
    }

  private:
    ByteSource& source_;
    std::size_t taken_ = 0;
    std::string piece_;
};

class Reader : public nlohmann::json_sax<nlohmann::json> {
  public:
    Reader(KinetoTrace& trace, const ByteSource& source) : trace_(trace), source_(source), text_ids_(trace.texts) {
        text_ids_({});
    }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t n) override { return whole(n); }
    bool number_unsigned(number_unsigned_t n) override { return whole(n); }
    bool number_float(number_float_t, const string_t& digits) override { return take(digits), true; }
    bool string(string_t& text) override { return take(text), true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return open(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        keys_.resize(depth_);
        keys_.back() = name;
        return true;
    }
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception&) override {
        source_.refuse(fmt::format("byte {}: is no JSON from here on, or is cut off", byte));
    }

    bool has_events() const { return has_events_; }

  private:
    static constexpr std::string_view events_key = "traceEvents";

    bool whole(auto number) {
        const fmt::format_int digits(number);
        return take({digits.data(), digits.size()}), true;
    }
    bool open() {
        constexpr std::size_t deepest = 64;
        if (depth_ == deepest) source_.refuse(fmt::format("objects lie more than {} deep in one another", deepest));
        if (in_list_of_args()) event_.dims += '[';
        ++depth_;
        keys_.resize(depth_);
        keys_.back().clear();
        if (depth_ == 3 && keys_[0] == events_key) event_ = {};
        return true;
    }
    bool close() {
        --depth_;
        keys_.resize(depth_);
        if (in_list_of_args()) event_.dims += ']';
        if (depth_ == 2 && keys_[0] == events_key) add();
        return true;
    }
    bool in_event() const { return depth_ >= 3 && keys_[0] == events_key; }
    bool in_list_of_args() const { return depth_ >= 4 && in_event() && keys_[2] == "args" && keys_[3] == "Input Dims"; }

    void take(std::string_view value) {
        if (in_event()) {
            if (depth_ == 3) return field(keys_[2], value);
            if (keys_[2] == "args") return argument(keys_[3], value);
            return;
        }
        if (depth_ == 0) return;
        trace_.is_simulated |= keys_[0] == "simulatedBy";
        if (keys_[0] == "deviceProperties" && keys_.back() == "name" && trace_.device.empty()) trace_.device = value;
        if (keys_[0] == "distributedInfo" && depth_ == 2) {
            if (keys_[1] == "rank") trace_.rank = number_in<std::int64_t>(value);
            if (keys_[1] == "world_size") trace_.ranks = number_in<std::int64_t>(value);
        }
        if (depth_ >= 4 && keys_[0] == "distributedInfo" && keys_[1] == "pg_config") {
            if (keys_[3] == "pg_name") group_ = value;
            if (keys_[3] == "ranks" && depth_ == 5) trace_.groups[group_].push_back(number_in<std::uint32_t>(value));
        }
    }

    void field(std::string_view key, std::string_view value) {
        if (key == "ph") event_.phase = value;
        if (key == "cat") event_.category = value;
        if (key == "name") event_.name = value;
        if (key == "pid") event_.process = value;
        if (key == "tid") event_.thread = value;
        if (key == "ts") event_.begin = nanoseconds(value);
        if (key == "dur") event_.duration = nanoseconds(value);
    }

    void argument(std::string_view key, std::string_view value) {
        if (depth_ > 4) {
            if (key == "Input Dims") (event_.dims += value) += ',';
            return;
        }
        if (key == "correlation") event_.correlation = number_in<std::uint64_t>(value);
        if (key == "stream") event_.stream = number_in<std::int64_t>(value);
        if (key == "Sequence number") event_.sequence = number_in<std::int64_t>(value);
        if (key == "Collective name") event_.collective = value;
        if (key == "Process Group Name") event_.group = value;
        if (key == "Process Group Ranks") event_.members = value;
        if (key == "Src Rank") event_.call.source = number_in<std::int64_t>(value);
        if (key == "Dst Rank") event_.call.target = number_in<std::int64_t>(value);
        if (key == "dtype") event_.type = value;
        if (key == "In msg nelems") event_.call.in = number_in<double>(value);
        if (key == "Out msg nelems") event_.call.out = number_in<double>(value);
        if (key == "Group size") event_.ranks = number_in<double>(value);
        if (key == "Total Allocated") event_.allocated = number_in<double>(value);
    }

    void add() {
        has_events_ = true;
        if (event_.name == "[memory]") trace_.allocated = std::max(trace_.allocated, event_.allocated);
        if (event_.phase != "X" || event_.duration < 0) return;
        const std::string_view what = event_.category;
        if (what == "kernel") return add_device(DeviceEvent::Kind::kernel);
        if (what == "gpu_memcpy") return add_device(DeviceEvent::Kind::copy);
        if (what == "gpu_memset") return add_device(DeviceEvent::Kind::fill);
        if (what == "cpu_op") return add_host(HostEvent::Kind::operation);
        if (what == "user_annotation") return add_host(HostEvent::Kind::annotation);
        if (what == "cuda_runtime" || what == "cuda_driver") return add_host(HostEvent::Kind::launch);
    }

    void add_host(HostEvent::Kind kind) {
        const auto thread = threads_.try_emplace(event_.process + ' ' + event_.thread, threads_.size()).first->second;
        trace_.host.push_back({.begin = event_.begin,
                               .end = event_.begin + event_.duration,
                               .kind = kind,
                               .name = text_ids_(event_.name),
                               .thread = static_cast<std::uint32_t>(thread),
                               .sequence = event_.sequence,
                               .correlation = event_.correlation,
                               .dims = text_ids_(event_.dims)});
    }

    void add_device(DeviceEvent::Kind kind) {
        DeviceEvent device{.begin = event_.begin,
                           .end = event_.begin + event_.duration,
                           .kind = kind,
                           .name = text_ids_(event_.name),
                           .stream = static_cast<std::int32_t>(event_.stream),
                           .correlation = event_.correlation};
        if (!event_.collective.empty()) {
            device.call = static_cast<std::uint32_t>(trace_.calls.size());
            KinetoCall& call = trace_.calls.emplace_back(event_.call);
            call.op = text_ids_(event_.collective);
            call.group = text_ids_(event_.group);
            call.type = text_ids_(event_.type);
            call.members = text_ids_(event_.members);
            call.ranks = static_cast<std::uint32_t>(std::clamp(event_.ranks, 0.0, 4e9));
        }
        trace_.kernels.push_back(device);
    }

    KinetoTrace& trace_;
    const ByteSource& source_;
    Interned text_ids_;
    std::size_t depth_ = 0;
    std::vector<std::string> keys_;  // at each depth
    Event event_;
    std::string group_;  // whose ranks follow
    std::map<std::string, std::size_t> threads_;
    bool has_events_ = false;
};

}  // namespace

std::vector<HostEvent> KinetoTrace::waits() const {
    return list_of_those<HostEvent>(host, [this](const HostEvent& event) {
        return event.kind == HostEvent::Kind::launch && contains(texts[event.name], "Synchronize");
    });
}

KinetoTrace read_kineto(ByteSource& source) {
    KinetoTrace trace;
    trace.file = source.name();
    Reader reader(trace, source);
    Buffer buffer(source);
    std::istream stream(&buffer);
    stream.exceptions(std::ios::badbit);  // what underflow() throws goes on to the caller
    nlohmann::json::sax_parse(stream, &reader);
    if (!reader.has_events()) source.refuse("expected a trace of PyTorch's profiler (Kineto): it has no traceEvents");
    if (trace.kernels.empty()) {
        source.refuse(
            "has no kernel of a device: profile with ProfilerActivity.CUDA (on AMD, too) among the activities");
    }
    std::ranges::stable_sort(trace.host, {}, [](const HostEvent& e) { return std::pair(e.begin, -e.end); });
    std::ranges::stable_sort(trace.kernels, {}, &DeviceEvent::begin);
    return trace;
}

bool is_kineto(const std::filesystem::path& path) {
    constexpr std::size_t far_enough = std::size_t{1} << 20;  // behind what is said of devices and groups
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) return false;
    try {
        return ByteSource(path).peek(far_enough).find("\"traceEvents\"") != std::string_view::npos;
    } catch (const ConfigError&) {
        return false;  // whoever reads it says why
    }
}

std::vector<std::vector<double>> dims_of(std::string_view text) {
    std::vector<std::vector<double>> lists;
    for (std::size_t at = 1; at < text.size(); ++at) {  // behind the bracket around all of them
        if (text[at] == '[') lists.emplace_back();
        if (text[at] < '0' || text[at] > '9') continue;
        const std::size_t end = std::min(text.find_first_of(",[]", at), text.size());
        if (!lists.empty()) lists.back().push_back(number_in<double>(text.substr(at, end - at)));
        at = end - 1;
    }
    return lists;
}

}  // namespace weft
