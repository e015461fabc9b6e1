// What every JSON output has in common. Within one schema no key goes and none changes its meaning; keys may come.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft {

inline constexpr int output_schema = 2;

// An output as text: "weft" and "schema" say who wrote it and by which names, then come the members of `json`.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace weft
