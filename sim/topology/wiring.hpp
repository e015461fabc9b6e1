// How the links of a topology lie: which vertices they join, and which belong together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/topology/link_matrix.hpp"

namespace weft {

struct LinkEnds {
    NodeId tail{}, head{};
};

// Answers by arithmetic, so that no table has an entry per link. Pure.
class Wiring {
  public:
    virtual ~Wiring() = default;
    virtual LinkEnds ends(LinkId link) const = 0;
    // The other direction of the same cable: of the links between two vertices, the first one way belongs to the first
    // the other way, and so on.
    virtual LinkId way_back(LinkId link) const = 0;
    virtual bool joins_switches(LinkId link) const = 0;  // of the network
    virtual LinkId port(std::uint32_t nic) const = 0;    // from a NIC into the network; NICs count node by node
    virtual std::string switch_name(std::uint32_t number) const = 0;  // of the network's; each has one of its own
    // Pictures of the links that leave nodes, and where each of these stands; no link inside a node is on one.
    virtual std::vector<LinkMatrix> matrices() const = 0;
    virtual std::optional<MatrixPlace> place(LinkId link) const = 0;
};

}  // namespace weft
