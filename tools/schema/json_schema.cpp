#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

#include "sim/io/document.hpp"
#include "tools/schema/reference.hpp"
#include "workloads/framework/framework.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// What a file says: all of something, what is other than in the die it names, or than in what it extends
// (sim/io/extends.hpp).
enum class Says : std::uint8_t { all, other_than_die, other_than_base };

class SchemaWriter {
  public:
    SchemaWriter(const Reference& reference, Says says) : reference_(reference), says_(says) {}

    Json root() const {
        Json schema = objects(reference_.root.objects, "");
        if (says_ == Says::other_than_base) schema["patternProperties"] = {{R"(.[.\[])", Json::object()}};  // a path
        if (reference_.kind == "job") add_frameworks(schema);
        return schema;
    }

  private:
    Json value(const ValueRecord& record, const std::string& path) const {
        Json forms = Json::array();
        for (const std::string& taken : record.takes) forms.push_back(Json::parse(taken));
        if (record.element != nullptr)
            forms.push_back({{"type", "array"}, {"items", value(*record.element, path + "[]")}});
        if (record.any != nullptr) {
            forms.push_back({{"type", "object"}, {"additionalProperties", value(*record.any, path + ".*")}});
        }
        if (!record.objects.empty()) forms.push_back(objects(record.objects, path));
        if (const auto other = reference_.others.find(path); other != reference_.others.end()) {
            forms.push_back({{"$ref", "#/definitions/" + other->second}});
        }
        if (says_ == Says::other_than_base) {
            if (const ValueRecord* const figure = figure_of(record)) forms.push_back(value(*figure, path + ".value"));
            forms.push_back({{"type", "null"}});  // which removes it
        }
        Json schema = forms.empty() ? Json::object() : forms.size() == 1 ? forms.front() : Json{{"anyOf", forms}};
        if (const std::string meaning = reference_.meaning(path); !meaning.empty()) schema["description"] = meaning;
        if (record.defaults.size() == 1) schema["default"] = Json::parse(*record.defaults.begin());
        return schema;
    }

    // What stands for an object whose other members are remarks on it.
    static const ValueRecord* figure_of(const ValueRecord& record) {
        for (const auto& [kind, object] : record.objects) {
            for (const char* const key : {"nominal", "value"}) {
                if (const auto found = object.members.find(key); found != object.members.end())
                    return &found->second.value;
            }
        }
        return nullptr;
    }

    // Of one kind, or by kind; where that is the base's, what any of them may have.
    Json objects(const std::map<std::string, ObjectRecord>& by_kind, const std::string& path) const {
        if (by_kind.size() == 1 && by_kind.begin()->first.empty()) return object(by_kind.begin()->second, path);
        Json cases = Json::array(), kinds = Json::array(), of_any = Json::object();
        for (const auto& [kind, record] : by_kind) {
            if (kind.empty()) continue;
            kinds.push_back(kind);
            const Json is_it = {{"properties", {{"kind", {{"const", kind}}}}}, {"required", {"kind"}}};
            const Json schema = object(record, path + "(" + kind + ")");
            cases.push_back({{"if", is_it}, {"then", schema}});
            for (const auto& [key, member] : schema["properties"].items()) of_any[key]["anyOf"].push_back(member);
        }
        const Json has_kind = {{"required", {"kind"}}};
        Json schema = {{"type", "object"}, {"properties", {{"kind", {{"enum", kinds}}}}}, {"allOf", cases}};
        if (says_ == Says::other_than_base) {
            schema["if"] = has_kind;
            schema["else"] = {{"properties", of_any}, {"additionalProperties", false}};
        } else {
            schema.update(has_kind);
        }
        return schema;
    }

    Json object(const ObjectRecord& record, const std::string& path) const {
        const bool is_file = path.empty();  // for which schema_of() tells them apart
        if (is_file || says_ == Says::other_than_base || !record.members.contains("extends")) {
            return members(record, path);
        }
        return {{"if", {{"required", {"extends"}}}},
                {"then", SchemaWriter(reference_, Says::other_than_base).members(record, path)},
                {"else", members(record, path)}};
    }

    Json members(const ObjectRecord& record, const std::string& path) const {
        Json properties = Json::object(), required = Json::array();
        for (const auto& [key, member] : reference_.members(record, path)) {
            properties[key] = value(member->value, path_of_member(path, key));
            if (says_ == Says::all && record.requires_member(*member)) required.push_back(key);
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
    Says says_;
};

enum class SchemaPlace : std::uint8_t { alone, inside };

Json schema_of(const Reference& reference, SchemaPlace place) {
    const auto written = [&](Says says) {
        Json schema = SchemaWriter(reference, says).root();
        if (place == SchemaPlace::alone) schema["properties"]["$schema"] = {{"type", "string"}};
        return schema;
    };
    Json schema = written(Says::all);
    for (const std::string& key : reference.changes) {
        const Says says = key == "extends" ? Says::other_than_base : Says::other_than_die;
        schema = {{"if", {{"required", {key}}}}, {"then", written(says)}, {"else", schema}};
    }
    return schema;
}

// What a JSON Schema of a plain value says, in words.
std::string in_words(const Json& schema) {
    if (schema.contains("enum")) {
        const auto words =
            list_of<std::string>(schema["enum"], [](const Json& word) { return word.get<std::string>(); });
        return fmt::format("`{}`", fmt::join(words, "`, `"));
    }
    const auto type = schema.at("type").get<std::string>();
    if (type == "integer") return fmt::format("integer ≥ {}", schema["minimum"].dump());
    if (type == "boolean") return "true, false";
    if (schema.contains("pattern")) return "quantity as `" + schema["examples"][0].dump() + "`";
    return type == "string" ? "text" : type;
}

std::string taken(const ValueRecord& record);

std::string list_text(const ValueRecord& element) {
    if (!element.objects.empty()) return "list of objects";
    if (element.element != nullptr) return "list of lists";
    return "list, each " + taken(element);
}

// What may stand there, in words.
std::string taken(const ValueRecord& record) {
    std::string words;
    const auto add = [&](const std::string& more) { words += (words.empty() ? "" : "; or ") + more; };
    for (const std::string& schema : record.takes) add(in_words(Json::parse(schema)));
    if (record.element != nullptr) add(list_text(*record.element));
    if (!record.objects.empty() || record.any != nullptr) add("object");
    return words;
}

// { "value": ..., "source": ... } is one key of a table, unless the value is a list.
const ValueRecord* sourced(const ValueRecord& record) {
    if (record.objects.size() != 1) return nullptr;
    const auto& members = record.objects.begin()->second.members;
    const auto value = members.find("value");
    if (value == members.end() || members.size() != 2 || !members.contains("source")) return nullptr;
    return value->second.value.element == nullptr ? &value->second.value : nullptr;
}

class TableWriter {
  public:
    explicit TableWriter(const Reference& reference) : reference_(reference) {}

    std::vector<KeyTable> take() {
        section("", reference_.root);
        return std::move(tables_);
    }

  private:
    // A table, and those of the parts that have one of their own: all below a root, and what goes by kind.
    void section(const std::string& path, const ValueRecord& record) {
        for (const auto& [kind, object] : record.objects) {
            const std::string inner = kind.empty() ? path : path + "(" + kind + ")";
            tables_.push_back({.path = path, .kind = kind, .rows = {}});
            std::vector<Part> parts;
            rows("", inner, object, path.empty() ? &parts : nullptr);
            for (const Part& part : parts) section(part.path, *part.record);
        }
    }

    struct Part {
        std::string path;
        const ValueRecord* record;
    };

    // Members of an object, and those of objects in it under longer names. Parts with a table of their own go to
    // `parts`.
    void rows(const std::string& prefix, const std::string& path, const ObjectRecord& object,
              std::vector<Part>* parts) {
        for (const auto& [key, member] : reference_.members(object, path)) {
            const std::string inner = path_of_member(path, key);
            const ValueRecord& record = member->value;
            const ValueRecord* const value = sourced(record);
            std::string takes = value == nullptr ? taken(record) : taken(*value) + ", with its `source`";
            if (reference_.others.contains(inner)) takes += "; or object";
            const std::string otherwise = record.defaults.size() == 1       ? "`" + *record.defaults.begin() + "`"
                                          : object.requires_member(*member) ? "required"
                                                                            : "";
            tables_.back().rows.push_back({prefix + key, takes, otherwise, reference_.meaning(inner)});
            if (parts != nullptr && value == nullptr) {
                add_parts(inner, record, *parts);
            } else if (value == nullptr) {
                members_of(prefix + key, inner, record);
            }
        }
    }

    void members_of(const std::string& name, const std::string& path, const ValueRecord& record) {
        for (const auto& [kind, object] : record.objects) {
            rows(name + ".", kind.empty() ? path : path + "(" + kind + ")", object, nullptr);
        }
        if (record.element != nullptr) members_of(name + "[]", path + "[]", *record.element);
        if (record.any != nullptr) members_of(name + ".*", path + ".*", *record.any);
    }

    static void add_parts(const std::string& path, const ValueRecord& record, std::vector<Part>& parts) {
        if (!record.objects.empty()) parts.push_back({path, &record});
        if (record.element != nullptr) add_parts(path + "[]", *record.element, parts);
        if (record.any != nullptr) add_parts(path + ".*", *record.any, parts);
    }

    const Reference& reference_;
    std::vector<KeyTable> tables_;
};

}  // namespace

std::string json_schema(const Reference& reference) {
    Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "weft " + reference.kind}};
    schema.update(schema_of(reference, SchemaPlace::alone));
    for (const auto& [path, kind] : reference.others)
        schema["definitions"][kind] = schema_of(make_reference(kind), SchemaPlace::inside);
    return schema.dump(2) + "\n";
}

std::vector<KeyTable> key_tables(const Reference& reference) { return TableWriter(reference).take(); }

std::string reference_markdown(const Reference& reference) {
    std::string text;
    for (const KeyTable& table : key_tables(reference)) {
        if (!table.path.empty()) {
            text += fmt::format("\n### `{}`{}\n", table.path, table.kind.empty() ? "" : ", kind `" + table.kind + "`");
        }
        text += "\n| key | takes | default | meaning |\n|---|---|---|---|\n";
        for (const KeyRow& row : table.rows) {
            text += fmt::format("| `{}` | {} | {} | {} |\n", row.key, row.takes, row.otherwise, row.meaning);
        }
    }
    return text;
}

}  // namespace weft
