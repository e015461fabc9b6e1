#include "tools/output/json_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/version.hpp"

namespace weft {

std::string json_text(const Json& json) {
    Json output{{"weft", version}, {"schema", output_schema}};
    output.update(json);
    return output.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string number_text(double value) {
    return prints_as_integer(value) ? fmt::to_string(static_cast<std::int64_t>(value)) : fmt::to_string(value);
}

}  // namespace weft
