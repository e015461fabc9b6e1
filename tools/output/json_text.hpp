// What every JSON output has in common. Within one schema no key goes and none changes its meaning; keys may come.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft {

using Json = nlohmann::ordered_json;

inline constexpr int output_schema = 2;

// An output as text: "weft" and "schema" say who wrote it and by which names, then come the members of `json`.
std::string json_text(const Json& json);

// Below 2^53, where every whole double is exact.
inline bool prints_as_integer(double value) {
    return value == std::trunc(value) && std::abs(value) < 9007199254740992.0;
}

// As a JSON value of either kind.
template <class Json>
Json number(double value) {
    return prints_as_integer(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

// A list of what `make` makes of each row.
template <class Json, class Rows, class Make>
Json json_list(const Rows& rows, Make make) {
    Json list = Json::array();
    for (const auto& row : rows) list.push_back(make(row));
    return list;
}

std::string number_text(double value);  // "12", "0.5", "1e+300"

}  // namespace weft
