// The rows of a sweep as a page: lines over any varied key, a heat map over any two, all rows to sort and filter.
#pragma once

#include <string>
#include <string_view>

#include "tools/output/result_table.hpp"

namespace weft {

// What stands above the charts.
struct ResultPageText {
    std::string title;      // "gpt-neox-20b on frontier"
    std::string command;    // that made it: "weft sweep JOB --vary ..."
    std::string summary{};  // a sentence or more; empty: none
};

// Columns of kind key are what was varied, notes say why a row has no result.
std::string sweep_page(const ResultPageText& text, const ResultTable& table);

}  // namespace weft
