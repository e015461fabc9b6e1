#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "topologies/measurements/lines.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

bool names_library(std::string_view measured, std::string_view library) {
    return letters(measured).starts_with(letters(library));
}

// As many as a message can hold.
std::string list(const std::set<std::string>& texts) {
    constexpr std::size_t most = 12;
    const auto end = std::next(texts.begin(), static_cast<std::ptrdiff_t>(std::min(texts.size(), most)));
    return fmt::format("{}{}", fmt::join(texts.begin(), end, "; "), texts.size() > most ? "; ..." : "");
}

}  // namespace

std::vector<CollectiveMeasurement> of_one_kind(const MeasurementTable& table, std::vector<CollectiveMeasurement> rows,
                                               std::string_view library) {
    TableErrors errors(table.file);
    std::set<std::string> libraries, variants;
    for (const CollectiveMeasurement& row : rows) libraries.insert(row.library);
    if (libraries.size() > 1) {
        std::erase_if(rows, [&](const CollectiveMeasurement& row) { return !names_library(row.library, library); });
    }
    if (rows.empty()) {
        errors.fail(0, fmt::format("nothing measured with {}; the table has: {}", library, list(libraries)));
    }
    for (const CollectiveMeasurement& row : rows) variants.insert(row.variant);
    if (variants.size() > 1) {
        errors.fail(0, fmt::format("measured in several ways; choose one by --where COLUMN=VALUE: {}", list(variants)));
    }
    return rows;
}

}  // namespace weft
