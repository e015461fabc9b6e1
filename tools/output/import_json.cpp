#include "tools/output/import_json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "tools/output/json_text.hpp"
#include "tools/output/report_json.hpp"

namespace weft {

std::string import_json(const Format& format, const Import& import) {
    using Json = nlohmann::ordered_json;
    Json facts = Json::object();
    for (const FormatFact& fact : import.facts) facts[fact.name] = Json::parse(fact.json);
    const Json result{{"format", format.name},
                      {"kind", to_text(import.kind)},
                      {"object", Json::parse(import.object.json())},
                      {"facts", std::move(facts)},
                      {"notes", notes_json(import.notes)}};
    return json_text(result);
}

}  // namespace weft
