// Why each op on the critical path of a step takes as long as it does.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/engine/critical_path.hpp"
#include "workloads/explain/device_limit.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// One reason, and what it is about.
struct Cause {
    std::string name;       // "matrix products", "transfer", ...
    std::string dimension;  // of communication: "tensor"; else empty
    std::string link;       // of a transfer: the class of the links that bound it, or what else does; else empty

    auto operator<=>(const Cause&) const = default;
};

// "tensor transfer over infinity_fabric.x4"
std::string cause_text(const Cause& cause);

struct CauseTime {
    Cause cause;
    std::int64_t ticks = 0;
};

class PathCauses {
  public:
    // Of a step whose ops are kept (Kept::ops). Both must outlive this.
    PathCauses(const Simulation& run, const LimitShares& shares);

    // They sum to the piece to the tick.
    //   computation: what runs at each limit of the device; "optimizer"; "interference" by communication beside it;
    //                copies between device and host by direction; "other computation", which scales with none of these;
    //   communication: "latency" of its legs; "transfer" of their bytes as if alone on the links; "sharing": the rest,
    //                what others take of these links.
    std::vector<CauseTime> of(const PathPiece& piece) const;

    // What bounds the rate of a pattern alone: a link of it, or none (a limit of channels or protocol).
    struct Bound {
        BytesPerSecond rate;
        LinkId link{};
        bool is_link = false;
    };
    Bound bound(PatternId pattern) const;
    std::set<LinkClassId> crossed(OpId exchange) const;  // by its bytes

  private:
    void add_computation(const PathPiece& piece, const Op& op, std::vector<CauseTime>& causes) const;
    void add_communication(const PathPiece& piece, const Op& op, std::vector<CauseTime>& causes) const;

    const Simulation& run_;
    const Program& program_;
    ComputeTimes works_;
    const LimitShares& shares_;
};

}  // namespace weft
