// The traffic of one phase in the groups of a row, as far as a sample of the machine's links tells it. Worked out once
// for all protocols.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/communicator.hpp"
#include "sim/collective/fabric_sample.hpp"
#include "sim/collective/group_row.hpp"
#include "sim/collective/library.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class RowTraffic {
  public:
    // `communicator` is laid through the first group of the row; the channels of the others are these, moved. The
    // sample has counted the phase. LogicError where the fabric routes adaptively: what settles on detours depends on
    // all links.
    RowTraffic(const Topology& topology, const FabricSample& sample, const GroupRow& row,
               const Communicator& communicator, const Phase& phase);

    // As those of PhaseTraffic, of a phase with the same messages; loads of links of the sample only.
    Pattern pattern(const Phase& phase, const ProtocolCost& protocol) const;
    Seconds latency(const Phase& phase, const ProtocolCost& protocol) const;
    double detoured() const;

  private:
    struct Message {
        RankId from{}, to{};
        std::uint32_t channel = 0;
        double share = 1.0;  // of the unit of flow
    };
    // Of a message: it stays in its node; or added to where it turns: it enters by a NIC of another number.
    static constexpr std::uint8_t inside = 0xff, to_other_nic = 0x40;

    // Messages of one size load links alike.
    struct Size {
        double share = 1.0;
        std::uint32_t detours = 0;
        bool across = false;
        bool operator==(const Size&) const = default;
    };
    // How often messages of one size in one group pass a link, on their routes and on detours.
    struct Passes {
        LinkId link{};
        std::uint32_t group = 0, size = 0, routes = 0, detours = 0;
    };
    // How long links take messages of each kind, in groups whose messages turn alike.
    struct Latencies {
        std::vector<std::uint32_t> kind_of;  // by message
        std::vector<bool> across;            // by kind
        std::vector<std::vector<Seconds>> of_kinds;
    };

    void add_across(std::uint32_t across);
    void add_group(std::uint32_t across, std::uint32_t within);
    void add_ways(const Message& message, std::uint32_t size);
    void pass(const Route& route, std::uint32_t size, std::uint32_t routes, std::uint32_t detours);
    void merge_passes();
    std::uint32_t size_of(const Message& message, bool across);
    void add_latencies(std::uint32_t across);
    bool turn_alike(std::uint32_t by) const;
    Latencies kinds() const;
    std::uint8_t turn_of(RankId from, RankId to) const;

    const Topology& topology_;
    const RouteTree& tree_;
    const FabricSample& sample_;
    const GroupRow& row_;
    const Communicator& communicator_;
    std::vector<Message> messages_;    // of the first group, channel by channel
    std::vector<std::uint8_t> turns_;  // of the messages of the groups at hand
    std::vector<std::vector<std::uint8_t>> known_turns_;
    std::vector<std::uint32_t> candidates_;  // messages that may load links of the sample
    std::vector<Size> sizes_;
    std::vector<Passes> passes_;  // by link and group
    std::uint32_t group_ = 0;
    std::vector<Latencies> latencies_;
};

}  // namespace weft
