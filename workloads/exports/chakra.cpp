// A simulated step as Chakra execution traces, a file per rank, and its process groups as ASTRA-sim takes them
// (--comm-group-configuration). Source: schema/protobuf/et_def.proto of mlcommons/chakra.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/wire.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/chakra/chakra.hpp"
#include "workloads/recorded/simulated_ranks.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

std::uint64_t type_of(Collective op) {
    const auto* const found = std::ranges::find(chakra_collectives, std::optional(op));
    WEFT_CHECK(found != chakra_collectives.end(), "a call that Chakra has no type for");
    return static_cast<std::uint64_t>(found - chakra_collectives.begin());
}

void add_message(std::string& file, std::string_view message) {
    append_varint(file, message.size());
    file += message;
}

// Whole microseconds, the step beginning at one second since readers take 0 for none: what follows without a gap is
// written without one, and sums of a stream stay right to one.
std::uint64_t microseconds(Instant at) {
    return 1'000'000 + static_cast<std::uint64_t>(std::llround(since_start(at).value * 1e6));
}

class RankWriter {
  public:
    RankWriter(const SimulatedRanks& step, const SimulatedRank& rank)
        : step_(step), rank_(rank), program_(step.program()) {}

    std::string write() {
        std::string metadata;
        append_field(metadata, 1, "0.0.4");
        add_message(file_, metadata);
        for (std::size_t i = 0; i < rank_.record.nodes.size(); ++i) add(i);
        return std::move(file_);
    }

  private:
    // Neighbours of a ring that send to one another are a message each: a send and a receive, side by side.
    bool is_pair(std::size_t i) const {
        const RecordedNode& node = rank_.record.nodes[i];
        return node.kind == RecordedKind::collective && node.op == Collective::send_receive;
    }

    void add(std::size_t i) {
        const RecordedNode& node = rank_.record.nodes[i];
        if (is_pair(i)) {
            const std::vector<std::uint32_t>& ring = program_.groups[node.partner];
            const auto own = static_cast<std::size_t>(std::ranges::find(ring, index(rank_.rank)) - ring.begin());
            add_message_node(begin(i, 2 * i, ChakraType::send), true, ring[(own + 1) % ring.size()], node);
            add_message_node(begin(i, 2 * i + 1, ChakraType::receive), false,
                             ring[(own + ring.size() - 1) % ring.size()], node);
            return;
        }
        const bool sends = node.kind == RecordedKind::send, calls = node.kind == RecordedKind::collective;
        if (sends || node.kind == RecordedKind::receive) {
            return add_message_node(begin(i, 2 * i, sends ? ChakraType::send : ChakraType::receive), sends,
                                    node.partner, node);
        }
        std::string message = begin(i, 2 * i, calls ? ChakraType::collective : ChakraType::compute);
        const LaneId lane = step_.lane(rank_, i);
        if (calls) {
            add(message, "comm_type", type_of(node.op));
            add(message, "comm_size", bytes_of(node));
            add(message, "pg_name", std::to_string(node.partner));
        } else if (lane == lanes::host) {
            add(message, "is_cpu_op", 1);
        } else {
            add(message, "stream", stream_of(lane));
        }
        add_message(file_, message);
    }

    void add_message_node(std::string message, bool sends, std::uint32_t other, const RecordedNode& node) {
        add(message, "comm_size", bytes_of(node));
        add(message, "comm_src", sends ? index(rank_.rank) : other);
        add(message, "comm_dst", sends ? other : index(rank_.rank));
        add(message, "comm_tag", node.tag);
        add_message(file_, message);
    }

    // What all kinds of nodes have.
    std::string begin(std::size_t i, std::uint64_t id, ChakraType type) const {
        const RecordedRank& record = rank_.record;
        std::string message;
        append_field(message, 1, id);
        append_field(message, 2, program_.names[record.nodes[i].name]);
        append_field(message, 3, static_cast<std::uint64_t>(type));
        for (const NodeDependency on : record.dependencies_of(i)) {
            append_field(message, 5, std::uint64_t{2} * on.node);
            if (is_pair(on.node)) append_field(message, 5, std::uint64_t{2} * on.node + 1);
        }
        const std::uint64_t from = microseconds(rank_.spans[i].begin);
        append_field(message, 6, from);
        append_field(message, 7, microseconds(rank_.spans[i].end) - from);
        return message;
    }

    static std::uint64_t bytes_of(const RecordedNode& node) {
        return static_cast<std::uint64_t>(std::llround(node.bytes.value));
    }
    // AttributeProto: a name, and a value of one of many kinds: int64 is 9, a text 29.
    static void add(std::string& message, std::string_view name, std::uint64_t value) { add(message, name, 9, value); }
    static void add(std::string& message, std::string_view name, std::string_view value) {
        add(message, name, 29, value);
    }
    static void add(std::string& message, std::string_view name, std::uint32_t kind, auto value) {
        std::string attribute;
        append_field(attribute, 1, name);
        append_field(attribute, kind, value);
        append_field(message, 10, attribute);
    }

    const SimulatedRanks& step_;
    const SimulatedRank& rank_;
    const RecordedProgram& program_;
    std::string file_;
};

void write_chakra(SimulatedRanks& step, std::span<const RankId> ranks, const FileWriter& write) {
    for (const RankId rank : ranks) {
        write("rank." + std::to_string(index(rank)) + ".et", RankWriter(step, step.rank(rank)).write());
    }
    nlohmann::ordered_json groups = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < step.program().groups.size(); ++i) groups[std::to_string(i)] = step.program().groups[i];
    write("groups.json", groups.dump() + '\n');
}

}  // namespace

namespace exports {

extern const ExportFormat chakra{
    .name = "chakra", .title = "Chakra execution traces of a simulated step, a file per rank", .step = write_chakra};

}  // namespace exports
}  // namespace weft
