#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "topologies/measurements/lines.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

bool names_library(std::string_view measured, std::string_view library) {
    return letters(measured).starts_with(letters(library));
}

// Whether a call was measured in several ways. That larger calls name another algorithm is the library's choice.
bool has_several_ways(std::span<const CollectiveMeasurement> rows) {
    std::map<std::tuple<Collective, std::uint32_t, std::uint32_t, double>, std::string_view> ways;
    return std::ranges::any_of(rows, [&](const CollectiveMeasurement& row) {
        const auto known = ways.try_emplace({row.op, row.ranks, row.nodes, row.size.value}, row.variant).first;
        return known->second != row.variant;
    });
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
    if (has_several_ways(rows)) {
        for (const CollectiveMeasurement& row : rows) variants.insert(row.variant);
        errors.fail(0, fmt::format("measured in several ways; choose one by --where COLUMN=VALUE: {}", list(variants)));
    }
    return rows;
}

}  // namespace weft
