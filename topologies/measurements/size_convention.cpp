#include "topologies/measurements/size_convention.hpp"

namespace weft {

std::optional<SizeConvention> find_convention(std::string_view name) {
    if (name == "nccl") return SizeConvention::nccl;
    if (name == "osu") return SizeConvention::osu;
    return std::nullopt;
}

Bytes full_size(Collective op, Bytes size, SizeConvention convention, std::uint32_t members) {
    const bool of_one_part =
        convention == SizeConvention::osu && (op == Collective::all_gather || op == Collective::all_to_all);
    return of_one_part ? size * members : size;
}

double bus_factor(Collective op, std::uint32_t members) {
    const double n = members;
    switch (op) {
        case Collective::all_reduce:
            return 2.0 * (n - 1.0) / n;
        case Collective::all_gather:
        case Collective::reduce_scatter:
        case Collective::all_to_all:
            return (n - 1.0) / n;
        default:
            return 1.0;
    }
}

}  // namespace weft
