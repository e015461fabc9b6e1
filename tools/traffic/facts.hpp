// What `weft traffic` tells, as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/traffic/request.hpp"
#include "topologies/message_traffic.hpp"

namespace weft {

struct TrafficLinkFacts {
    std::string from, to;  // names of vertices
    std::string link_class;
    std::uint32_t messages = 0, bound = 0;  // see CarryingLink
    Bytes bytes{};
    double busy = 0.0;  // share of the whole time that the link needs for what it carries
};

// By nearest rank.
struct TrafficSpread {
    double least = 0.0, median = 0.0, most = 0.0;
};

struct TrafficFacts {
    Seconds time{};         // of all
    Bytes bytes{};          // of all messages
    Bytes link_bytes{};     // that links carried: of each message on every link of its way
    TrafficSpread rates{};  // bytes/s of messages while their bytes are on the way
    TrafficSpread times{};  // s, from call to arrival
    TrafficRun run;
    std::size_t links = 0;                    // that carry anything
    bool meets_others = false;                // whether any of these carries other traffic, too
    std::vector<TrafficLinkFacts> busiest{};  // at most as many as asked
};

// Throws RangeError as run_traffic() does.
TrafficFacts traffic_facts(const TrafficRequest& request, std::size_t top);

}  // namespace weft
