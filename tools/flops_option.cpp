#include "tools/flops_option.hpp"

#include <fmt/format.h>

#include <string>

namespace weft {

void add_flops_option(po::options_description& options) {
    options.add_options()(
        "flops", po::value<std::string>()->value_name("model|megatron|neox|megatron_core"),
        "TFLOP/s per GPU as others print it: model (matrix products of forward and backward), "
        "megatron (Megatron-LM of 2021, and GPT-NeoX since 2023-09-27: full recomputation counts), neox "
        "(GPT-NeoX before), megatron_core (as the job's version prints it: since core-0.12 half of causal attention)");
}

std::optional<FlopConvention> flops_option(const po::variables_map& arguments) {
    if (!arguments.count("flops")) return std::nullopt;
    const std::string& name = arguments["flops"].as<std::string>();
    if (const auto convention = find_flop_convention(name)) return convention;
    throw po::error(fmt::format("--flops: expected {}, got \"{}\"", fmt::join(flop_convention_names, ", "), name));
}

}  // namespace weft
