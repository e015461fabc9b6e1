#include "tools/output/result_cell.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "sim/base/check.hpp"

namespace weft {
namespace {

using Json = nlohmann::json;

Json json_of(const ResultCell& cell) {
    return std::visit(
        [](const auto& value) -> Json {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, std::monostate>) return nullptr;
            if constexpr (std::is_same_v<Value, double>) WEFT_CHECK(std::isfinite(value), "a result is not finite");
            if constexpr (!std::is_same_v<Value, std::monostate>) return value;
        },
        cell);
}

}  // namespace

std::string cell_json(const ResultCell& cell) {
    return json_of(cell).dump(-1, ' ', false, Json::error_handler_t::replace);
}

ResultCell cell_of_json(std::string_view text) {
    const Json value = Json::parse(text, nullptr, false);
    if (value.is_null()) return {};
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
        return value.get<double>();
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    return std::string(text);
}

std::string cell_text(const ResultCell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    return std::holds_alternative<std::monostate>(cell) ? "" : cell_json(cell);
}

}  // namespace weft
