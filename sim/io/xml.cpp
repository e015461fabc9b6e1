// XML by pugixml.
#include <pugixml.hpp>
#include <string_view>
#include <utility>

#include "sim/io/syntaxes.hpp"
#include "sim/io/value_table.hpp"

namespace weft {
namespace {

std::size_t offset_of(const pugi::xml_node& node) {
    const std::ptrdiff_t offset = node.offset_debug();
    return offset < 0 ? 0 : static_cast<std::size_t>(offset);
}

bool add_element(ValueTable& table, const pugi::xml_node& element) {
    const std::size_t place = offset_of(element);
    if (!table.open(ValueKind::object, place)) return false;
    table.key("#name", place);
    if (!table.text(element.name(), place)) return false;
    for (const pugi::xml_attribute& attribute : element.attributes()) {
        table.key(attribute.name(), place);
        if (!table.text(attribute.value(), place)) return false;
    }
    const auto is_element = [](const pugi::xml_node& node) { return node.type() == pugi::node_element; };
    if (element.find_child(is_element)) {
        table.key("#elements", place);
        if (!table.open(ValueKind::list, place)) return false;
        for (const pugi::xml_node& child : element.children()) {
            if (is_element(child) && !add_element(table, child)) return false;
        }
        table.close();
    } else if (const std::string_view words = element.text().get(); !words.empty()) {
        table.key("#text", place);
        if (!table.text(std::string(words), place)) return false;
    }
    table.close();
    return true;
}

}  // namespace

Document parse_xml(std::string name, std::string text) {
    ValueTable table(text);
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
    const auto offset = static_cast<std::size_t>(parsed.offset < 0 ? 0 : parsed.offset);
    if (!parsed) {
        table.fail(offset, std::string("invalid XML: ") + parsed.description());
    } else if (!document.document_element()) {
        table.fail(0, "invalid XML: no element");
    } else {
        add_element(table, document.document_element());
    }
    return Document::of(std::move(name), std::move(text), std::move(table).result());
}

}  // namespace weft
