// What a message takes of the links on its way, per byte of it. Whoever drives a NIC, or moves bytes inside a node, may
// not reach what these carry, and holds them for longer than the bytes need. Between switches a link carries what
// comes, for everybody at its own rate.
#pragma once

namespace weft {

struct MessageLoad {
    MessageLoad(double everywhere = 1.0) : MessageLoad(everywhere, everywhere) {}
    MessageLoad(double ends, double switches) : at_ends(ends), between_switches(switches) {}

    double at_ends;           // on links of nodes and of their ports
    double between_switches;  // on those of the network

    double on(bool joins_switches) const { return joins_switches ? between_switches : at_ends; }
    bool operator==(const MessageLoad&) const = default;
};

}  // namespace weft
