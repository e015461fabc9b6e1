// The shipped machines whose routes climb a tree.
#pragma once

#include <string>
#include <vector>

#include "topologies/machine.hpp"

namespace weft::test {

inline std::vector<std::string> machines_with_trees() {
    std::vector<std::string> names;
    for (const std::string& name : machine_names()) {
        if (Machine::load(name).topology(2).router->tree() != nullptr) names.push_back(name);
    }
    return names;
}

}  // namespace weft::test
