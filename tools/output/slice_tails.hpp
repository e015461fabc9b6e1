// What the slices of one label on a lane have in common, from their last number to their end: made once, used millions
// of times.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/program/program.hpp"

namespace weft {

class SliceTails {
  public:
    static constexpr std::uint32_t no_communication = std::numeric_limits<std::uint32_t>::max();

    // `lanes`: as JSON; must outlive this.
    explicit SliceTails(const Program& program, const std::vector<std::string>& lanes) : lanes_(lanes) {
        for (const Communication& what : program.communications) {
            const Method& method = program.methods[what.method];
            details_.push_back(fmt::format(R"(,"operation":"{}","group_size":{},"message_bytes":{:.0f})", name(what.op),
                                           what.group_size, what.message.value));
            if (method == Method{}) continue;
            details_.back() += fmt::format(R"(,"algorithm":"{}","protocol":"{}","channels":{})", method.algorithm,
                                           method.protocol, method.channels);
        }
    }

    // `known`: those of slices called `name`. Good until the next call.
    class Known {
        friend class SliceTails;
        struct Tail {
            LaneId lane{};
            std::uint32_t communication = no_communication;
            std::string text{};
        };
        std::vector<Tail> tails_;
    };
    std::string_view find(Known& known, std::string_view name, LaneId lane, std::uint32_t communication) const {
        for (const Known::Tail& each : known.tails_) {
            if (each.lane == lane && each.communication == communication) return each.text;
        }
        std::string_view details;
        if (communication != no_communication) details = details_[communication];
        known.tails_.push_back(
            {lane, communication, fmt::format(R"({}}},"name":{},"cat":{}}})", details, name, lanes_[index(lane)])});
        return known.tails_.back().text;
    }

  private:
    const std::vector<std::string>& lanes_;
    std::vector<std::string> details_;  // by communication: its arguments
};

}  // namespace weft
