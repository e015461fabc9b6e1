#include "tools/schema/json_schema.hpp"

#include <nlohmann/json.hpp>

#include "sim/io/document.hpp"
#include "workloads/framework/framework.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

class SchemaWriter {
  public:
    SchemaWriter(const Reference& reference, Document::Extent extent) : reference_(reference), extent_(extent) {}

    Json root() const {
        Json schema = objects(reference_.root.objects, "");
        if (reference_.kind == "job") add_frameworks(schema);
        return schema;
    }

  private:
    Json value(const ValueRecord& record, const std::string& path) const {
        Json ways = Json::array();
        for (const std::string& taken : record.takes) ways.push_back(Json::parse(taken));
        if (record.element != nullptr)
            ways.push_back({{"type", "array"}, {"items", value(*record.element, path + "[]")}});
        if (record.any != nullptr) {
            ways.push_back({{"type", "object"}, {"additionalProperties", value(*record.any, path + ".*")}});
        }
        if (!record.objects.empty()) ways.push_back(objects(record.objects, path));
        if (const auto other = reference_.others.find(path); other != reference_.others.end()) {
            ways.push_back({{"$ref", "#/definitions/" + other->second}});
        }
        Json schema = ways.size() == 1 ? ways.front() : Json{{"anyOf", ways}};
        if (const std::string meaning = reference_.meaning(path); !meaning.empty()) schema["description"] = meaning;
        if (record.defaults.size() == 1) schema["default"] = Json::parse(*record.defaults.begin());
        return schema;
    }

    // Of one kind, or by kind.
    Json objects(const std::map<std::string, ObjectRecord>& by_kind, const std::string& path) const {
        if (by_kind.size() == 1 && by_kind.begin()->first.empty()) return object(by_kind.begin()->second, path);
        Json cases = Json::array(), kinds = Json::array();
        for (const auto& [kind, record] : by_kind) {
            if (kind.empty()) continue;
            kinds.push_back(kind);
            Json is_it = {{"properties", {{"kind", {{"const", kind}}}}}, {"required", {"kind"}}};
            cases.push_back({{"if", is_it}, {"then", object(record, path + "(" + kind + ")")}});
        }
        return {{"type", "object"},
                {"properties", {{"kind", {{"enum", kinds}}}}},
                {"required", {"kind"}},
                {"allOf", cases}};
    }

    Json object(const ObjectRecord& record, const std::string& path) const {
        Json properties = Json::object(), required = Json::array();
        for (const auto& [key, member] : reference_.members(record, path)) {
            properties[key] = value(member->value, path_of_member(path, key));
            if (extent_ == Document::Extent::whole && record.requires_member(*member)) required.push_back(key);
        }
        Json schema = {{"type", "object"}, {"properties", properties}};
        if (!required.empty()) schema["required"] = required;
        schema["additionalProperties"] = false;
        return schema;
    }

    // The settings of a framework go with that framework alone.
    static void add_frameworks(Json& schema) {
        const Json otherwise = schema["properties"]["framework"]["default"];
        for (const std::string& name : framework_names()) {
            if (!schema["properties"].contains(name)) continue;
            Json then = {{"properties", {{"framework", {{"const", name}}}}}};
            if (name != otherwise) then["required"] = {"framework"};
            schema["allOf"].push_back({{"if", {{"required", {name}}}}, {"then", then}});
        }
    }

    const Reference& reference_;
    Document::Extent extent_;
};

enum class Standing : std::uint8_t { alone, inside };

// Of what is a change to something else, nothing is required.
Json schema_of(const Reference& reference, Standing standing) {
    const auto of_extent = [&](Document::Extent extent) {
        Json schema = SchemaWriter(reference, extent).root();
        if (standing == Standing::alone) schema["properties"]["$schema"] = {{"type", "string"}};
        return schema;
    };
    if (reference.changes.empty()) return of_extent(Document::Extent::whole);
    Json ways = Json::array();
    for (const std::string& key : reference.changes) ways.push_back({{"required", {key}}});
    return {{"if", {{"anyOf", ways}}},
            {"then", of_extent(Document::Extent::change)},
            {"else", of_extent(Document::Extent::whole)}};
}

}  // namespace

std::string json_schema(const Reference& reference) {
    Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "weft " + reference.kind}};
    schema.update(schema_of(reference, Standing::alone));
    for (const auto& [path, kind] : reference.others)
        schema["definitions"][kind] = schema_of(make_reference(kind), Standing::inside);
    return schema.dump(2) + "\n";
}

}  // namespace weft
