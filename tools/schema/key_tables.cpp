#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tools/schema/reference.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// What a JSON Schema of a plain value says, in words.
std::string in_words(const Json& schema) {
    if (schema.contains("enum")) {
        std::string names;
        for (const Json& name : schema["enum"]) names += (names.empty() ? "`" : ", `") + name.get<std::string>() + "`";
        return names;
    }
    const auto type = schema.at("type").get<std::string>();
    if (type == "integer") return fmt::format("integer ≥ {}", schema["minimum"].dump());
    if (type == "boolean") return "true, false";
    if (schema.contains("pattern")) return "quantity as `" + schema["examples"][0].dump() + "`";
    return type == "string" ? "text" : type;
}

std::string taken(const ValueRecord& record);

std::string listed(const ValueRecord& element) {
    if (!element.objects.empty()) return "list of objects";
    if (element.element != nullptr) return "list of lists";
    return "list, each " + taken(element);
}

// What may stand there, in words.
std::string taken(const ValueRecord& record) {
    std::string words;
    const auto add = [&](const std::string& more) { words += (words.empty() ? "" : "; or ") + more; };
    for (const std::string& schema : record.takes) add(in_words(Json::parse(schema)));
    if (record.element != nullptr) add(listed(*record.element));
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
