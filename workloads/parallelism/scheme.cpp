#include "workloads/parallelism/scheme.hpp"

#include <algorithm>

namespace weft {

const Scheme* find_scheme(std::string_view axis) {
    const auto all = parallelism::all();
    const auto it = std::ranges::find(all, axis, [](const Scheme* scheme) { return scheme->axis; });
    return it == all.end() ? nullptr : *it;
}

std::vector<const Scheme*> schemes_by_place() {
    std::vector<const Scheme*> schemes(parallelism::all().begin(), parallelism::all().end());
    std::ranges::stable_sort(schemes, {}, &Scheme::place);
    return schemes;
}

}  // namespace weft
