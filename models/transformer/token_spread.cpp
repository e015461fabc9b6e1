#include "models/transformer/kernel_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// C(all - without, chosen) / C(all, chosen): that none of `chosen` out of `all` is one of `without`.
double chance_of_none(double all, double without, std::uint32_t chosen) {
    double chance = 1.0;
    for (std::uint32_t i = 0; i < chosen; ++i) chance *= std::max(all - without - i, 0.0) / (all - i);
    return chance;
}

double units_met(double experts, double units, std::uint32_t chosen) {
    return units * (1.0 - chance_of_none(experts, experts / units, chosen));
}

// C(n, k), as far as doubles go.
double choices(std::uint32_t n, std::uint32_t k) {
    if (k > n) return 0.0;
    double product = 1.0;
    for (std::uint32_t i = 0; i < k; ++i) product *= double(n - i) / double(i + 1);
    return product;
}

// A unit has several whole groups, of which a token may have chosen any number.
double units_of_groups_met(const Experts& experts, std::uint32_t units) {
    const std::uint32_t all = experts.groups, own = all / units, chosen = experts.token_groups;
    const double of_group = double(experts.count) / all;
    double missed = 0.0;
    for (std::uint32_t own_chosen = 0; own_chosen <= std::min(own, chosen); ++own_chosen) {
        const double likely = choices(own, own_chosen) * choices(all - own, chosen - own_chosen) / choices(all, chosen);
        missed += likely * chance_of_none(of_group * chosen, of_group * own_chosen, experts.top_k);
    }
    return units * (1.0 - missed);
}

}  // namespace

double expected_units(const Experts& experts, std::uint32_t units) {
    WEFT_CHECK(experts.count > 0 && units > 0 && experts.count % units == 0, "experts that do not fill their units");
    WEFT_CHECK(units_obstacle(experts, units).empty(), "units that cut groups of experts");
    if (units % experts.groups != 0) return units_of_groups_met(experts, units);
    const double share = double(experts.token_groups) / experts.groups;  // of experts and units that are left
    return units_met(experts.count * share, units * share, experts.top_k);
}

std::string units_obstacle(const Experts& experts, std::uint32_t units) {
    if (units % experts.groups == 0 || experts.groups % units == 0) return {};
    return fmt::format("{} places for experts cut the {} groups that tokens choose from", units, experts.groups);
}

}  // namespace weft
