// By yaml-cpp, toml++ and pugixml: each walks what its library has parsed into a ValueTable.
#include "sim/io/document.hpp"

#define TOML_EXCEPTIONS 1
#include <fmt/format.h>
#include <toml++/toml.h>
#include <yaml-cpp/yaml.h>
#include <array>
#include <cmath>
#include <pugixml.hpp>
#include <sstream>

#include "sim/base/texts.hpp"
#include "sim/io/values.hpp"

namespace weft {
namespace {

template <std::size_t Size>
bool is_one_of(std::string_view word, const std::array<std::string_view, Size>& words) {
    return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 3> trues{"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> falses{"false", "False", "FALSE"};
constexpr std::array<std::string_view, 6> nulls{"", "~", "null", "Null", "NULL", "None"};

// Decimal, with digits grouped by "_" as Python allows; no infinity and no NaN.
std::optional<double> as_number(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    if (word.empty() || word.find_first_not_of("0123456789.eE+-_") != std::string_view::npos) return std::nullopt;
    std::string digits(word);
    std::erase(digits, '_');
    const std::optional<double> value = parse_as<double>(digits);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

// What an unquoted word stands for, as Python and YAML read it: true, false, null, a number, or else a text.
bool add_plain_scalar(ValueTable& table, std::string_view word, std::size_t offset) {
    if (is_one_of(word, nulls)) return table.null(offset);
    if (is_one_of(word, trues)) return table.flag(true, offset);
    if (is_one_of(word, falses)) return table.flag(false, offset);
    if (const std::optional<double> number = as_number(word)) {
        return table.number(*number, fmt::format("{}", *number), offset);
    }
    return table.text(std::string(word), offset);
}

// A list or an object: `add` adds an element, or a member with its key.
template <class Elements, class Add>
bool add_all(ValueTable& table, ValueKind list_or_object, std::size_t place, const Elements& elements, Add add) {
    if (!table.open(list_or_object, place)) return false;
    for (const auto& each : elements) {
        if (!add(each)) return false;
    }
    table.close();
    return true;
}

std::size_t offset_of(const YAML::Mark& mark) { return mark.is_null() ? 0 : static_cast<std::size_t>(mark.pos); }

bool add_node(ValueTable& table, const YAML::Node& node) {
    const std::size_t place = offset_of(node.Mark());
    if (node.IsMap()) {
        return add_all(table, ValueKind::object, place, node, [&](const auto& member) {
            const std::size_t of_key = offset_of(member.first.Mark());
            if (!member.first.IsScalar()) return table.fail(of_key, "invalid YAML: a key must be a word");
            table.key(member.first.Scalar(), of_key);
            return add_node(table, member.second);
        });
    }
    if (node.IsSequence()) {
        return add_all(table, ValueKind::list, place, node, [&](const auto& each) { return add_node(table, each); });
    }
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

// TOML by toml++.

namespace {

// Offsets at which lines begin.
std::vector<std::size_t> line_starts(std::string_view text) {
    std::vector<std::size_t> starts{0};
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\n') starts.push_back(at + 1);
    }
    return starts;
}

class TomlTable {
  public:
    explicit TomlTable(std::string_view text) : text_(text), lines_(line_starts(text)), table_(text) {}

    bool add(const toml::node& node) {
        const std::size_t place = offset_of(node.source().begin);
        if (const toml::table* table = node.as_table()) {
            return add_all(table_, ValueKind::object, place, *table, [&](const auto& member) {
                table_.key(std::string(member.first.str()), offset_of(member.first.source().begin));
                return add(member.second);
            });
        }
        if (const toml::array* array = node.as_array()) {
            return add_all(table_, ValueKind::list, place, *array, [&](const toml::node& each) { return add(each); });
        }
        if (const auto* text = node.as_string()) return table_.text(text->get(), place);
        if (const auto* flag = node.as_boolean()) return table_.flag(flag->get(), place);
        if (const auto* whole = node.as_integer()) {
            return table_.number(static_cast<double>(whole->get()), std::to_string(whole->get()), place);
        }
        if (const auto* number = node.as_floating_point()) {
            if (!std::isfinite(number->get())) return table_.text(fmt::format("{}", number->get()), place);
            return table_.number(number->get(), fmt::format("{}", number->get()), place);
        }
        std::ostringstream written;
        node.visit([&](const auto& value) {
            if constexpr (toml::is_value<decltype(value)>) written << value.get();
        });
        return table_.text(written.str(), place);
    }
    void fail(const toml::parse_error& error) {
        table_.fail(offset_of(error.source().begin), "invalid TOML: " + std::string(error.description()));
    }
    ParsedValues result() && { return std::move(table_).result(); }

  private:
    // Columns count characters, offsets bytes: in lines with others than ASCII's a place is a little early.
    std::size_t offset_of(const toml::source_position& place) const {
        if (place.line == 0 || place.line > lines_.size()) return 0;
        const std::size_t column = place.column == 0 ? 0 : place.column - 1;
        return std::min(lines_[place.line - 1] + column, text_.size());
    }

    std::string_view text_;
    std::vector<std::size_t> lines_;
    ValueTable table_;
};

}  // namespace

Document parse_toml(std::string name, std::string text) {
    TomlTable table(text);
    try {
        table.add(toml::parse(text));
    } catch (const toml::parse_error& error) {
        table.fail(error);
    }
    return Document::of(std::move(name), std::move(text), std::move(table).result());
}

// XML by pugixml.

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
        const auto add = [&](const auto& child) { return !is_element(child) || add_element(table, child); };
        if (!add_all(table, ValueKind::list, place, element.children(), add)) return false;
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
