#include "tools/output/left_out_text.hpp"

#include <fmt/format.h>

#include "tools/output/device_calibration_text.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/text_table.hpp"
#include "tools/output/validation_text.hpp"

namespace weft {
namespace {

std::string origin(const RefittedConstant& one) {
    if (one.rows == 0) return "kept: no row of another set tells it";
    return fmt::format("{} rows {}of other sets{}", one.rows, one.use == RowUse::fit ? "marked fit " : "",
                       one.determination == Determination::at_limit ? ", at its limit" : "");
}

std::string constants_text(const LeftOut& result) {
    TextTable table({"<constant", "shipped", "without the set", "<fitted to"});
    for (const RefittedConstant& one : result.constants) {
        table.add({one.device + "." + one.constant.name, constant_text(one.constant, one.shipped),
                   constant_text(one.constant, one.refitted), origin(one)});
    }
    return table.text();
}

}  // namespace

std::string left_out_text(std::string_view set, const LeftOut& result) {
    if (result.constants.empty()) {
        const bool has_fits = result.shipped.fit.rows > 0;
        return fmt::format(
            "{}: {}\n", set,
            has_fits
                ? "not refittable: its rows marked fit tell no constant of a device, but of a library or its own jobs"
                : "no constant is fitted to it");
    }
    TextTable table({"<rows", "number", "mean", "without", "change", "bias", "without"});
    for (const RowUse use : {RowUse::predict, RowUse::fit}) {
        const ErrorStatistics &before = result.shipped.of(use), &after = result.refitted.of(use);
        if (before.rows == 0) continue;
        table.add({std::string(name(use)), fmt::to_string(before.rows), percent(before.mean), percent(after.mean),
                   fmt::format("{:+.1f} points", 100 * (after.mean - before.mean)), signed_percent_text(before.bias),
                   signed_percent_text(after.bias)});
    }
    return fmt::format("{}, left out of the fits:\n{}{}", set, constants_text(result), table.text());
}

}  // namespace weft
