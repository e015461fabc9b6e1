// A shipped machine file as plain JSON, with what it and its libraries extend.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "sim/io/embedded.hpp"

namespace weft::test {

inline nlohmann::json shipped_json(std::span<const embedded::File> files, const std::string& name) {
    const auto file = std::ranges::find(files, name, &embedded::File::name);
    return nlohmann::json::parse(file->text, nullptr, true, true);
}

inline nlohmann::json shipped_machine_json(const std::string& name) {
    nlohmann::json own = shipped_json(embedded::machines(), name);
    if (own.contains("libraries")) {
        for (nlohmann::json& library : own["libraries"]) {
            if (!library.contains("extends")) continue;
            nlohmann::json whole = shipped_json(embedded::fabrics(), library.at("extends"));
            library.erase("extends");
            whole.merge_patch(library);
            library = std::move(whole);
        }
    }
    if (!own.contains("extends")) return own;
    nlohmann::json whole = shipped_machine_json(own.at("extends"));
    own.erase("extends");
    whole.merge_patch(own);
    return whole;
}

}  // namespace weft::test
