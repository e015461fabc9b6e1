// The busiest links, as outputs tell them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "topologies/hottest_links.hpp"

namespace weft {

nlohmann::ordered_json hot_links_json(std::span<const HotLink> links);

// "node 0 NIC 1 -> group 0 switch 1", and how many more carried as much.
std::string hot_link_text(const HotLink& link);

}  // namespace weft
