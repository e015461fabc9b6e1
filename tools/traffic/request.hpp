// What `weft traffic` is asked, as values.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "tools/collective/request.hpp"
#include "tools/traffic/rank_message.hpp"

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

void add_traffic_options(boost::program_options::options_description& options,
                         boost::program_options::positional_options_description& positional);

// Throws po::error; ConfigError for files.
TrafficRequest traffic_request(const boost::program_options::variables_map& arguments);

}  // namespace weft
