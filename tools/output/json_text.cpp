#include "tools/output/json_text.hpp"

#include <nlohmann/json.hpp>

#include "tools/version.hpp"

namespace weft {

std::string json_text(const nlohmann::ordered_json& json) {
    nlohmann::ordered_json output{{"weft", version}, {"schema", output_schema}};
    output.update(json);
    return output.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace weft
