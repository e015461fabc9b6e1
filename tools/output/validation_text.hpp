// The scorecard: for people, for a README, for programs and for pages; and what measured runs say of an answer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/output/result_table.hpp"
#include "tools/validate/scorecard.hpp"

namespace weft {

// A table of errors per set, predicted rows and fitted ones apart; then the `worst` worst predictions.
std::string validation_text(const Validation& validation, std::size_t worst);
std::string validation_rows_text(const Validation& validation);  // every row
std::string validation_list(std::span<const ValidationSet> sets);
std::string broken_bounds_text(const Validation& validation);  // a line each; empty if all hold
std::string verdict_text(const Validation& validation);        // of all bounds; what has none and is not judged

// Of sets that have rows of this use, their errors, bounds and what became of these.
ResultTable scores_table(const Validation& validation, RowUse use);
std::string quantity_text(std::string_view quantity, double value);  // "3.53 s", "66.5 GiB"

// A line that begins with what is answered: "step time", or a range of sizes.
std::string evidence_text(std::string_view answer, const Evidence& evidence, const JobTraits& job);
// Lines behind it where errors are large: why, each behind `mark`.
std::string causes_text(std::span<const CauseOfErrors> causes, std::string_view mark);
std::string validity_text(const Validity& validity);
std::string memory_validity_text(const Validity& validity);  // its line about memory

std::string validation_markdown(const Validation& validation);  // tables by use of rows, and why errors are large

// {"sets": [...], "rows": [...], "predict": {...}, "fit": {...}, "passed": ...}. The "job" of a row is a job file that
// `weft simulate` reads (of a collective on its own: its keys).
std::string validation_json(const Validation& validation);
// set,name,use,quantity,measured,predicted,error, and the TFLOP/s where a convention is asked for.
std::string validation_csv(const Validation& validation);

}  // namespace weft
