// What other traffic takes of a fabric and which links are busiest, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "tools/output/result_table.hpp"
#include "topologies/fabric.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {

// "slingshot.local 75 % (a packet waits 1.5 times its own time), ..."; "" if there is none.
std::string background_text(const Fabric& fabric);
nlohmann::ordered_json background_json(const Fabric& fabric);  // an entry for each class of links

ResultTable hot_links_table(std::span<const HotLink> links);

// "node 0 NIC 1 -> group 0 switch 1", and how many more carried as much.
std::string hot_link_text(const HotLink& link);

}  // namespace weft
