// A shipped machine file as plain JSON, with what it extends.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/io/embedded.hpp"

namespace weft::test {

inline nlohmann::json shipped_machine_json(const std::string& name) {
    const auto file = std::ranges::find(embedded::machines(), name, &embedded::File::name);
    nlohmann::json own = nlohmann::json::parse(file->text, nullptr, true, true);
    if (!own.contains("extends")) return own;
    nlohmann::json whole = shipped_machine_json(own.at("extends"));
    own.erase("extends");
    whole.merge_patch(own);
    return whole;
}

}  // namespace weft::test
