// YAML by yaml-cpp.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>

#include "sim/io/plain_scalar.hpp"
#include "sim/io/syntaxes.hpp"
#include "sim/io/value_table.hpp"

namespace weft {
namespace {

std::size_t offset_of(const YAML::Mark& mark) { return mark.is_null() ? 0 : static_cast<std::size_t>(mark.pos); }

bool add_node(ValueTable& table, const YAML::Node& node);

bool add_map(ValueTable& table, const YAML::Node& node) {
    if (!table.open(ValueKind::object, offset_of(node.Mark()))) return false;
    for (const auto& member : node) {
        const std::size_t place = offset_of(member.first.Mark());
        if (!member.first.IsScalar()) return table.fail(place, "invalid YAML: a key must be a word");
        table.key(member.first.Scalar(), place);
        if (!add_node(table, member.second)) return false;
    }
    table.close();
    return true;
}

bool add_list(ValueTable& table, const YAML::Node& node) {
    if (!table.open(ValueKind::list, offset_of(node.Mark()))) return false;
    for (const YAML::Node& element : node) {
        if (!add_node(table, element)) return false;
    }
    table.close();
    return true;
}

bool add_node(ValueTable& table, const YAML::Node& node) {
    const std::size_t place = offset_of(node.Mark());
    if (node.IsMap()) return add_map(table, node);
    if (node.IsSequence()) return add_list(table, node);
    if (!node.IsScalar()) return table.null(place);
    const bool quoted = node.Tag() == "!";
    return quoted ? table.text(node.Scalar(), place) : add_plain_scalar(table, node.Scalar(), place);
}

}  // namespace

Document parse_yaml(std::string name, std::string text) {
    ValueTable table(text);
    try {
        add_node(table, YAML::Load(text));
    } catch (const YAML::Exception& error) {
        table.fail(offset_of(error.mark), "invalid YAML: " + error.msg);
    }
    return Document::of(std::move(name), std::move(text), std::move(table).result());
}

}  // namespace weft
