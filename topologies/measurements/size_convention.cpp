#include "topologies/measurements/size_convention.hpp"

namespace weft {

std::optional<SizeConvention> find_convention(std::string_view name) {
    if (name == "nccl") return SizeConvention::nccl;
    if (name == "osu") return SizeConvention::osu;
    return std::nullopt;
}

namespace {

bool of_one_part(Collective op, SizeConvention convention) {
    return convention == SizeConvention::osu && (op == Collective::all_gather || op == Collective::all_to_all);
}

}  // namespace

Bytes full_size(Collective op, Bytes size, SizeConvention convention, std::uint32_t members) {
    return of_one_part(op, convention) ? size * members : size;
}

Bytes stated_size(Collective op, Bytes message, SizeConvention convention, std::uint32_t members) {
    return of_one_part(op, convention) ? message / members : message;
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
