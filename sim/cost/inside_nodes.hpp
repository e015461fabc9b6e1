// What the messages of a communicator inside nodes load and take, for others that sit on their nodes as it does on its:
// where nodes are alike, only messages between nodes differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/cost/communicator.hpp"
#include "sim/cost/critical_path.hpp"
#include "sim/cost/link_loads.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class InsideNodes {
  public:
    // On a topology with node_links. `loads`: of the messages inside nodes; `messages`: all of the communicator's.
    InsideNodes(const Topology& topology, const Communicator& communicator, const LinkLoads& loads,
                std::vector<MessageLatency> messages);

    // The nodes of another communicator, in the order of those of this one; nothing if it sits on them otherwise.
    std::optional<std::vector<std::uint32_t>> nodes_of(const Communicator& other) const;
    void add_to(LinkLoads& loads, std::span<const std::uint32_t> nodes) const;
    const MessageLatency& message(std::size_t i) const { return messages_[i]; }

  private:
    struct Member {
        std::uint32_t node = 0, local = 0;  // the node by its place among all that the communicator is on
    };
    struct Load {
        std::uint32_t node = 0;
        LinkId link{};  // of the node
        LinkLoads::Units load = 0;
    };
    const Topology& topology_;
    std::uint32_t nodes_ = 0;
    std::vector<std::vector<Member>> channels_;
    std::vector<Load> loads_;
    std::vector<MessageLatency> messages_;
};

}  // namespace weft
