#include "tools/calibrate/device_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/validate/run.hpp"

namespace weft {
namespace {

bool is_held(const ValidationRow& row, const std::vector<HeldCell>& holds) {
    return row.use == RowUse::predict || std::ranges::any_of(holds, [&](const HeldCell& hold) {
               if (hold.first == "name") return row.name == hold.second;
               return std::ranges::any_of(
                   row.cells, [&](const JobCell& c) { return c.key == hold.first && c.value == hold.second; });
           });
}

Prediction predict_on(ValidationCase one, const ValidationRow& row, const Device& device) {
    Study& study = std::get<Study>(one.subject);
    study.device = device;
    try {
        return predict(one, row);
    } catch (const RangeError& error) {
        throw ConfigError({{.file = row.name, .key = {}, .message = error.what()}});
    }
}

DeviceFitSource source_of(ValidationCase one, const ValidationSet& set, const ValidationRow& row, bool held) {
    DeviceFitSource source;
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < row.measured.size(); ++i) {
        if (row.measured[i].quantity.ends_with("_bytes")) continue;
        wanted.push_back(i);
        source.rows.push_back({.kind = fmt::format("{} of {}", row.measured[i].quantity, set.name),
                               .where = fmt::format("{}:{}", set.name, row.line),
                               .measured = row.measured[i].value,
                               .is_held = held});
    }
    source.predict = [one = std::move(one), &row, wanted = std::move(wanted)](const Device& device) {
        const Prediction prediction = predict_on(one, row, device);
        std::vector<double> values;
        for (const std::size_t i : wanted) values.push_back(prediction.values[i]);
        return values;
    };
    return source;
}

}  // namespace

std::vector<DeviceFitSource> set_sources(std::span<const ValidationSet> sets, const Device& device,
                                         const std::vector<HeldCell>& holds) {
    std::vector<DeviceFitSource> sources;
    for (ValidationCase& one : validation_cases(sets)) {
        const Study* const study = std::get_if<Study>(&one.subject);
        const ValidationSet& set = sets[one.set];
        const ValidationRow& row = set.rows[one.row];
        if (study == nullptr || study->device.name != device.name || row.use == RowUse::disturbed) continue;
        sources.push_back(source_of(std::move(one), set, row, is_held(row, holds)));
        if (sources.back().rows.empty()) sources.pop_back();
    }
    return sources;
}

}  // namespace weft
