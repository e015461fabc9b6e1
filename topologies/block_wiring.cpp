#include "topologies/block_wiring.hpp"

namespace weft {

LinkEnds BlockWiring::ends(LinkId link) const {
    const auto number = static_cast<std::uint32_t>(link);
    if (number < numbering_.first_port()) {
        const std::uint32_t node = number / numbering_.node_links;
        const BlockLink& own = node_links_[number % numbering_.node_links];
        return {numbering_.vertex(node, own.tail), numbering_.vertex(node, own.head)};
    }
    if (number < numbering_.first_of_network()) return port_ends(number - numbering_.first_port());
    const SwitchPair pair = network_->ends(LinkId(number - numbering_.first_of_network()));
    return {numbering_.network_switch(pair.tail), numbering_.network_switch(pair.head)};
}

// Links of nodes and ports are twins, and there is an even number of them.
LinkId BlockWiring::way_back(LinkId link) const {
    const auto number = static_cast<std::uint32_t>(link);
    if (number < numbering_.first_of_network()) return twin_of(link);
    return numbering_.network_link(network_->way_back(LinkId(number - numbering_.first_of_network())));
}

std::vector<LinkMatrix> BlockWiring::matrices() const {
    std::vector<LinkMatrix> all{{.title = "Between nodes and the network",
                                 .row = "NIC",
                                 .column = "node",
                                 .rows = numbering_.nics,
                                 .columns = numbering_.nodes,
                                 .to_column = "in",
                                 .to_row = "out"}};
    for (LinkMatrix& each : network_->matrices()) all.push_back(std::move(each));
    return all;
}

std::optional<MatrixPlace> BlockWiring::place(LinkId link) const {
    const auto number = static_cast<std::uint32_t>(link);
    if (number < numbering_.first_port()) return std::nullopt;
    if (number < numbering_.first_of_network()) {
        const std::uint32_t port_link = number - numbering_.first_port(), cable = port_link / 2;
        return MatrixPlace{.row = cable % numbering_.nics,
                           .column = cable / numbering_.nics,
                           .way = port_link % 2 == 0 ? MatrixWay::to_row : MatrixWay::to_column};
    }
    MatrixPlace place = network_->place(LinkId(number - numbering_.first_of_network()));
    ++place.matrix;
    return place;
}

LinkEnds BlockWiring::port_ends(std::uint32_t port_link) const {
    const std::uint32_t cable = port_link / 2;
    const Port port{cable / numbering_.nics, cable % numbering_.nics};
    const NodeId below = numbering_.vertex(port.node, numbering_.accelerators + port.nic);
    const NodeId leaf = numbering_.network_switch(network_->leaf(port));
    return port_link % 2 == 0 ? LinkEnds{below, leaf} : LinkEnds{leaf, below};
}

}  // namespace weft
