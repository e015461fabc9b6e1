#include "tools/folding_option.hpp"

#include <fmt/format.h>

#include <string>

namespace weft {

void add_folding_options(po::options_description& options, Folding folding) {
    options.add_options()(
        "fold",
        po::value<std::string>()->value_name("automatic|exact|stages|none")->default_value(std::string(name(folding))),
        "which ranks one stands for: exact (those that symmetry makes equal), stages (all of a pipeline stage, at the "
        "pace of its slowest group), none, or automatic (exact up to 512 ranks, stages beyond)")(
        "no-fold", po::bool_switch(), "simulate every rank on its own (slow; for doubt): --fold none");
}

Folding folding_named(const std::string& how) {
    if (const std::optional<Folding> folding = find_folding(how)) return *folding;
    throw po::error(fmt::format("--fold: expected automatic, exact, stages or none, got \"{}\"", how));
}

Folding folding_option(const po::variables_map& arguments) {
    const std::string& how = arguments["fold"].as<std::string>();
    const Folding folding = folding_named(how);
    if (!arguments["no-fold"].as<bool>()) return folding;
    if (!arguments["fold"].defaulted() && folding != Folding::none) {
        throw po::error(fmt::format("--no-fold and --fold {} contradict each other", how));
    }
    return Folding::none;
}

}  // namespace weft
