#include "workloads/framework/framework.hpp"

#include <algorithm>

namespace weft {

std::vector<Call> no_calls(const Job&) { return {}; }
std::vector<Call> no_stage_calls(const Job&, std::uint32_t) { return {}; }

const Framework* find_framework(std::string_view name) {
    const auto all = framework::all();
    const auto it = std::ranges::find(all, name, [](const Framework* f) { return f->name; });
    return it == all.end() ? nullptr : *it;
}

std::vector<std::string> framework_names() {
    std::vector<std::string> names;
    for (const Framework* f : framework::all()) names.emplace_back(f->name);
    return names;
}

}  // namespace weft
