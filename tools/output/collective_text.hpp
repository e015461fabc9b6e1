// The rows of `weft collective` as benchmarks print them, beside measurements, and for programs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tools/collective/table.hpp"
#include "tools/output/json_text.hpp"

namespace weft {

// The table of nccl-tests, with the algorithm and protocol behind it; lines that are no rows begin with #.
std::string collective_nccl(const CollectiveRequest& request, std::span<const CollectiveRow> rows);
std::string collective_osu(const CollectiveRequest& request, std::span<const CollectiveRow> rows);
std::string collective_json(const CollectiveRequest& request, std::span<const CollectiveRow> rows,
                            const std::optional<Comparison>& comparison);
std::string collective_csv(std::span<const CollectiveRow> rows);
// Quantiles of every row, if samples were asked for.
std::string collective_samples(const CollectiveRequest& request, std::span<const CollectiveRow> rows);
// Phases and candidates of every row.
std::string collective_explanation(std::span<const CollectiveRow> rows);

// Comment lines that a table of calls should not be read without: where a larger message is the faster one and why,
// what shared NICs cost, how well such calls are known.
std::string call_notes(const CollectiveRequest& request, std::span<const CollectiveRow> rows);

// "64 ranks on 8 nodes, 8 groups of 8"
std::string layout_text(const SetLayout& layout);

std::string comparison_text(const Comparison& comparison, const std::string& file);
std::string summary_text(const ErrorSummary& summary);  // "error of 29 rows: median 8.1 %, ..."
Json summary_json(const ErrorSummary& summary);         // without the number of rows

}  // namespace weft
