// Chakra execution traces: a file per rank. Source: schema/protobuf/et_def.proto of mlcommons/chakra (fields and
// types), and what ASTRA-sim's feeder takes for granted where the schema is silent. Times in the files are
// microseconds.
#include <fmt/format.h>

#include <limits>
#include <unordered_map>

#include "sim/io/document.hpp"
#include "sim/io/wire.hpp"
#include "workloads/formats/chakra/chakra.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/recorded/reading.hpp"

namespace weft {
namespace {

constexpr std::size_t longest_message = std::size_t{64} << 20U;

constexpr double barrier = 9;
constexpr Bytes barrier_bytes{8};

class FileReader {
  public:
    FileReader(ByteSource& source, std::uint32_t number, RecordedReading& reading)
        : source_(source),
          reading_(reading),
          rank_(reading.begin_rank(number, source)),
          number_(number),
          groups_(reading.named_groups) {}

    void read() {
        bool is_first = true;
        for (std::string_view message; take_message(message, is_first); is_first = false) {
            if (is_first) continue;  // what wrote the file
            const auto number = static_cast<std::uint32_t>(rank_.nodes.size());
            const ChakraNode node = read_chakra_node(message);
            if (!node.fault.empty()) refuse(node.fault);
            for (const auto& on : node.dependencies) dependencies_.push_back({on.id, number, on.is_control});
            is_of_pytorch_ |= node.attributes.number("rf_id").has_value();
            add(node);
        }
        if (is_first) source_.refuse("is no Chakra trace: it has no message");
        resolve_dependencies();
        resolve_groups();
        if (last_end_ > first_begin_) rank_.recorded = Seconds{(last_end_ - first_begin_) / 1e6};
    }

  private:
    [[noreturn]] void refuse(std::string_view why) const {
        source_.refuse(fmt::format("at byte {}: {}", message_at_, why));
    }

    // The first may be empty; a node never is.
    bool take_message(std::string_view& message, bool is_first) {
        message_at_ = source_.offset();
        std::string_view head = source_.peek(10);
        if (head.empty()) return false;
        const std::size_t before = head.size();
        std::uint64_t length = 0;
        if (!take_varint(head, length)) refuse("a length that is cut or has more than 64 bits");
        source_.skip(before - head.size());
        if (length > longest_message) refuse(fmt::format("a message of {} bytes; at most {}", length, longest_message));
        if (length == 0 && !is_first) refuse("an empty message, which is no node");
        message = source_.peek(length);
        if (message.size() < length)
            refuse(fmt::format("a message of {} bytes is cut after {}", length, message.size()));
        taken_.assign(message);
        message = taken_;
        source_.skip(length);
        return true;
    }

    void add(const ChakraNode& read) {
        RecordedNode node{.id = read.id, .time = Seconds{read.duration.value_or(0.0) / 1e6}};
        node.name = reading_.names(read.name);
        const std::optional<std::string> mistake = fill(node, read);
        if (read.start && *read.start > 0.0) {
            first_begin_ = std::min(first_begin_, *read.start);
            last_end_ = std::max(last_end_, *read.start + read.duration.value_or(0.0));
        }
        if (mistake) reading_.mistakes.add(rank_, node, *mistake);
        reading_.add(rank_, node, source_);
    }

    // What is wrong, if anything is.
    std::optional<std::string> fill(RecordedNode& node, const ChakraNode& read) {
        const ChakraAttributes& has = read.attributes;
        const bool is_on_host = has.number("is_cpu_op").value_or(0.0) != 0.0;
        if (read.type > static_cast<std::uint64_t>(ChakraType::collective) || read.type == 0) {
            return fmt::format("has type {}; there are 1 to 7", read.type);
        }
        const auto type = static_cast<ChakraType>(read.type);
        if (type == ChakraType::metadata) return metadata(read), std::nullopt;
        if (type < ChakraType::send || is_on_host) {  // the host's call of a collective only launches it
            node.kind = RecordedKind::compute;
            node.bytes = Bytes{std::max(0.0, has.number("tensor_size").value_or(0.0))};
            node.flops = Flops{std::max(0.0, has.number("num_ops").value_or(0.0))};
            const bool is_memory = type == ChakraType::load || type == ChakraType::store;
            node.unit = unit(is_on_host  ? host
                             : is_memory ? memory
                                         : std::max(0.0, has.number("stream").value_or(0.0)));
            return std::nullopt;
        }
        const std::optional<double> size = has.number("comm_size");
        if (!size || !(*size >= 0.0)) return "has no comm_size";
        node.bytes = Bytes{*size};
        return type == ChakraType::collective ? collective(node, has) : message(node, has, type);
    }

    std::optional<std::string> collective(RecordedNode& node, const ChakraAttributes& has) {
        node.kind = RecordedKind::collective;
        const std::optional<double> type = has.number("comm_type");
        if (!type) return "has no comm_type";
        if (!(*type >= 0.0 && *type <= barrier)) return fmt::format("has comm_type {}; there are 0 to 9", *type);
        const std::optional<Collective> op = chakra_collectives[static_cast<std::size_t>(*type)];
        if (!op) return "is a gather or scatter, which no library of weft's machines has";
        if (has.some_dimensions && has.group.empty()) {
            return "is among some dimensions of ASTRA-sim's network (involved_dim): a group (pg_name) is needed";
        }
        if (*type == barrier) node.bytes = barrier_bytes;
        node.op = *op;
        node.partner = group_name(has.group);
        return std::nullopt;
    }

    std::optional<std::string> message(RecordedNode& node, const ChakraAttributes& has, ChakraType type) {
        const bool sends = type == ChakraType::send;
        node.kind = sends ? RecordedKind::send : RecordedKind::receive;
        const std::optional<double> other = has.number(sends ? "comm_dst" : "comm_src");
        const std::optional<double> own = has.number(sends ? "comm_src" : "comm_dst");
        if (!other || !(*other >= 0.0 && *other < most_recorded_ranks))
            return sends ? "has no comm_dst" : "has no comm_src";
        if (own && *own != number_) return fmt::format("is of rank {}, in the file of rank {}", *own, number_);
        node.partner = static_cast<std::uint32_t>(*other);
        const double tag = has.number("comm_tag").value_or(0.0);
        node.tag = tag >= 0.0 && tag < 4294967296.0 ? static_cast<std::uint32_t>(tag) : 0;
        return std::nullopt;
    }

    // Groups may be in the inputs of a metadata node: [{"pg_name": "1", "ranks": [0, 1], ...}, ...]
    void metadata(const ChakraNode& read) {
        const std::size_t begin = read.input_values.find("[{"), end = read.input_values.rfind("}]");
        if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return;
        if (!contains(read.input_values, "pg_name")) return;
        Document document = Document::parse(
            source_.name(), fmt::format("{{\"groups\": {}}}", read.input_values.substr(begin, end + 2 - begin)));
        Field root = document.root();
        for (Field& group : root.list("groups")) {
            const std::string name =
                group.is_text("pg_name") ? group.text("pg_name") : group.member("pg_name").as_json();
            groups_[name] = list_of<std::uint32_t>(group.list_if_given("ranks"), &Field::as_whole);
        }
        document.check();
    }

    // A number of group_names_ above 0.
    std::uint32_t group_name(std::string_view name) { return name.empty() ? 0 : group_numbers_(name) + 1; }

    std::uint16_t unit(double number) {
        const auto [known, is_new] = units_.try_emplace(number, std::uint16_t{0});
        if (is_new) {
            const std::string name = number == host     ? "host"
                                     : number == memory ? "memory"
                                                        : fmt::format("stream {}", number);
            if (units_.size() > most_units) refuse(fmt::format("more than {} streams", most_units));
            known->second = reading_.unit(rank_, name, number == host);
        }
        return known->second;
    }

    // Nodes may be waited for before they come, and some are not in the file at all. What PyTorch's converter calls
    // control is who called whom: a caller begins before what it calls, and ends after it.
    void resolve_dependencies() {
        std::unordered_map<std::uint64_t, std::uint32_t> node_of;
        node_of.reserve(rank_.nodes.size());
        for (std::uint32_t i = 0; i < rank_.nodes.size(); ++i) {
            if (!node_of.try_emplace(rank_.nodes[i].id, i).second) {
                reading_.mistakes.add(rank_, rank_.nodes[i], "is there twice");
            }
        }
        std::vector<ReadDependency> found;
        std::size_t lacking = 0;
        for (const auto& [on, node, is_control] : dependencies_) {
            if (is_control && is_of_pytorch_) continue;
            const auto known = node_of.find(on);
            if (known != node_of.end()) found.push_back({node, known->second});
            if (known == node_of.end()) ++lacking;
        }
        if (lacking > 0) {
            reading_.program.notes.push_back(fmt::format(
                "{}: {} dependencies are on nodes that the file has not; they are left out", source_.name(), lacking));
        }
        RecordedReading::set_dependencies(rank_, found);
    }

    void resolve_groups() {
        const auto all = list_of<std::string>(groups_, [](const auto& group) { return group.first; });
        std::vector<std::uint32_t> numbers_of{0};
        for (const std::string& name : group_names_) {
            const auto known = groups_.find(name);
            numbers_of.push_back(known != groups_.end()
                                     ? reading_.group(known->second)
                                     : reading_.undefined_group(fmt::format("group \"{}\", which nobody defines{}",
                                                                            name, suggestion(name, all))));
        }
        for (RecordedNode& node : rank_.nodes) {
            if (node.kind == RecordedKind::collective) node.partner = numbers_of[node.partner];
        }
    }

    static constexpr double host = -2, memory = -1;  // beside the streams
    static constexpr std::size_t most_units = 1024;

    ByteSource& source_;
    RecordedReading& reading_;
    RecordedRank& rank_;
    std::uint32_t number_;
    NamedGroups groups_;
    std::vector<std::string> group_names_;  // that nodes name
    Interned group_numbers_{group_names_};
    std::map<double, std::uint16_t> units_;
    struct Waiting {
        std::uint64_t on = 0;  // an id
        std::uint32_t node = 0;
        bool is_control = false;
    };
    std::vector<Waiting> dependencies_;
    bool is_of_pytorch_ = false;
    std::string taken_;
    std::uint64_t message_at_ = 0;
    double first_begin_ = std::numeric_limits<double>::infinity(), last_end_ = 0.0;
};

bool is_chakra(const SourceFile& file) {
    const std::string_view beginning = std::string_view(file.text).substr(0, 4096);
    return file.path.ends_with(".et") || file.path.ends_with(".et.gz") ||
           (beginning.find('\0') != std::string_view::npos && contains(beginning, "comm_type"));
}

}  // namespace

void read_chakra(ByteSource& source, std::uint32_t rank, RecordedReading& reading) {
    FileReader(source, rank, reading).read();
}

namespace formats {

extern const Format chakra{"chakra", "Chakra execution trace", is_chakra, recorded_facts};

}  // namespace formats
}  // namespace weft
