// TOML by toml++.
#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <utility>
#include <vector>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "sim/io/syntaxes.hpp"
#include "sim/io/value_table.hpp"

namespace weft {
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
        if (const toml::table* table = node.as_table()) return add_table(*table, place);
        if (const toml::array* array = node.as_array()) return add_array(*array, place);
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
    bool add_table(const toml::table& table, std::size_t place) {
        if (!table_.open(ValueKind::object, place)) return false;
        for (const auto& [key, value] : table) {
            table_.key(std::string(key.str()), offset_of(key.source().begin));
            if (!add(value)) return false;
        }
        table_.close();
        return true;
    }
    bool add_array(const toml::array& array, std::size_t place) {
        if (!table_.open(ValueKind::list, place)) return false;
        for (const toml::node& element : array) {
            if (!add(element)) return false;
        }
        table_.close();
        return true;
    }
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

}  // namespace weft
