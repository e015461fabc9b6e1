// What other traffic takes of a fabric, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "topologies/fabric.hpp"

namespace weft {

// "slingshot.local 75 % (a packet waits 1.5 times its own time), ..."; "" if there is none.
std::string background_text(const Fabric& fabric);
nlohmann::ordered_json background_json(const Fabric& fabric);  // an entry for each class of links

}  // namespace weft
