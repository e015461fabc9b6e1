// Pieces of HTML that several pages are made of.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

// Text that grows line by line.
class HtmlText {
  public:
    template <class... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        text_ += '\n';
    }
    void put(std::string_view html) { text_ += html; }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

struct HtmlColumn {
    std::string_view heading;
    enum class Kind : std::uint8_t { text, number } kind = Kind::number;
};

struct HtmlCell {
    std::string text;               // not escaped yet
    std::optional<double> value{};  // by which it is sorted; absent: by its text
};

enum class HtmlOrder : std::uint8_t { fixed, sortable };  // sortable: script "table"

// The first cell of a row is its heading. Every row has as many cells as there are columns.
std::string html_table(std::string_view caption, const std::vector<HtmlColumn>& columns,
                       const std::vector<std::vector<HtmlCell>>& rows, HtmlOrder order = HtmlOrder::fixed);

// Behind a line that opens it.
std::string html_details(std::string_view summary, std::string_view html);

}  // namespace weft
