#include "workloads/layout/rank_groups.hpp"

#include "sim/base/check.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {

std::size_t Axes::place_of_further(std::string_view name) {
    const auto axes = further_axes();
    const auto found = std::ranges::find(axes, name);
    WEFT_CHECK(found != axes.end(), "no axis " + std::string(name));
    return static_cast<std::size_t>(found - axes.begin());
}

static Axes axes_that_hold(Scheme::Holds what) {
    Axes axes;
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->ranks != Scheme::Ranks::shared && scheme->holds == what) axes.add(scheme->axis);
    }
    return axes;
}

Axes copy_axes() {
    static const Axes axes = axes_that_hold(Scheme::Holds::copies);
    return axes;
}

Axes part_axes() {
    static const Axes axes = axes_that_hold(Scheme::Holds::parts);
    return axes;
}

Axes stage_axes() {
    static const Axes axes = [] {
        Axes found;
        for (const std::string& axis : usual_order()) {
            if (axis != "pipeline") found.add(axis);
        }
        return found;
    }();
    return axes;
}

}  // namespace weft
