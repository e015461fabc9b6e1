#include "sim/collective/algorithm.hpp"

#include <string>

#include "sim/base/check.hpp"

namespace weft {

std::string_view name(Collective op) {
    switch (op) {
        case Collective::all_reduce:
            return "all_reduce";
        case Collective::all_gather:
            return "all_gather";
        case Collective::reduce_scatter:
            return "reduce_scatter";
        case Collective::broadcast:
            return "broadcast";
        case Collective::reduce:
            return "reduce";
        case Collective::all_to_all:
            return "all_to_all";
        case Collective::send_receive:
            return "send_receive";
        case Collective::point_to_point:
            return "point_to_point";
    }
    throw LogicError("a Collective outside its enumerators");
}

std::uint32_t peer_of(const Phase& phase, std::uint32_t i, std::uint32_t n) {
    switch (phase.peer) {
        case Peer::shift:
            return static_cast<std::uint32_t>((std::uint64_t{i} + phase.distance) % n);
        case Peer::chain:
            return i + 1;  // n for the last
        case Peer::exchange:
            return i < phase.span ? i ^ phase.distance : n;
        case Peer::fold:
            return i >= phase.distance ? i - phase.distance : n;
        case Peer::unfold:
            return i < n - phase.distance ? i + phase.distance : n;
        case Peer::all:
            break;
    }
    throw LogicError("in a Peer::all phase no member has one peer");
}

const Algorithm& find_algorithm(Collective op, std::string_view name) {
    for (const Algorithm* const algorithm : collective::all()) {
        if (algorithm->op == op && algorithm->name == name) return *algorithm;
    }
    throw LogicError("no algorithm \"" + std::string(name) + "\" for " + std::string(weft::name(op)));
}

const Algorithm& choose(Collective op, std::uint32_t members, Bytes message) {
    switch (op) {
        case Collective::all_to_all:
        case Collective::point_to_point:
            return find_algorithm(op, "direct");
        case Collective::all_reduce:
            if (members > 8 && message <= 64_KiB) return find_algorithm(op, "halving_doubling");
            break;
        default:
            break;
    }
    return find_algorithm(op, "ring");
}

}  // namespace weft
