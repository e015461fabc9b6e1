// What `weft traffic` is asked and what it tells, as values.
#pragma once

#include <boost/program_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/collective/request.hpp"
#include "tools/traffic/messages.hpp"
#include "topologies/message_traffic.hpp"

namespace weft {

struct TrafficRequest {
    Machine machine;
    const Library* library = nullptr;  // of `machine`
    std::string pattern{};             // as asked: "shift:8", or the file
    SetLayout layout{};
    Fabric fabric{};
    Preference preference{};
    Calls calls = Calls::blocking;
    std::vector<RankMessage> messages{};
};

// Throws po::error; ConfigError for files.
TrafficRequest traffic_request(const boost::program_options::variables_map& arguments);

// What `weft traffic` tells, as values.
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
    Bytes bytes{};          // of all messages
    Bytes link_bytes{};     // that links carried: of each message on every link of its route
    TrafficSpread rates{};  // bytes/s of messages while their bytes are in transfer
    TrafficSpread times{};  // s, from call to arrival
    TrafficRun run;
    bool meets_others = false;                // whether any of these carries other traffic, too
    std::vector<TrafficLinkFacts> busiest{};  // at most as many as asked
};

// Throws RangeError as run_traffic() does.
TrafficFacts traffic_facts(const TrafficRequest& request, std::size_t top);

}  // namespace weft
