// The results of `weft traffic`, for people and for programs.
#pragma once

#include <string>

#include "tools/traffic/request.hpp"

namespace weft {

std::string traffic_text(const TrafficRequest& request, const TrafficFacts& facts);
std::string traffic_json(const TrafficRequest& request, const TrafficFacts& facts);
std::string traffic_csv(const TrafficRequest& request, const TrafficFacts& facts);  // a row for each message

// As asked, or the machine's own.
std::string routing_name(const TrafficRequest& request);

}  // namespace weft
