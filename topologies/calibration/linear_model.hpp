// What a fit of a library's constants works on: the constants as the unknowns of a linear model, and the groups of
// ranks that were measured.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "topologies/calibration/calibration.hpp"
#include "topologies/collective_set.hpp"

namespace weft {

// A constant of a library: seconds as they are, efficiencies and rates inverted.
struct Unknown {
    std::string_view name;  // as in a machine file
    Constant kind{};
    std::size_t cost = 0;  // index in Library::costs; costs.size() for the library's own

    bool operator==(const Unknown&) const = default;
    double least() const { return kind == Constant::efficiency ? 1.0 : 0.0; }  // an efficiency is at most 1
};

// Those of the given kinds, of the library and of the costs named (ascending). Rates only where there is a limit.
inline std::vector<Unknown> unknowns_of(const Library& library, const std::vector<std::size_t>& costs,
                                        std::span<const Constant> kinds) {
    const auto wanted = [&](Constant kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); };
    std::vector<Unknown> unknowns;
    if (wanted(Constant::launch)) unknowns.push_back({"launch", Constant::launch, library.costs.size()});
    for (const std::size_t cost : costs) {
        for (const std::string_view name : {"step_in_node", "step_across"}) {
            if (wanted(Constant::step)) unknowns.push_back({name, Constant::step, cost});
        }
        for (const std::string_view name : {"efficiency_in_node", "efficiency_across"}) {
            if (wanted(Constant::efficiency)) unknowns.push_back({name, Constant::efficiency, cost});
        }
        const ProtocolCost& row = library.costs[cost];
        if (!wanted(Constant::rate)) continue;
        if (std::isfinite(row.rate_in_node.value)) unknowns.push_back({"rate_in_node", Constant::rate, cost});
        if (std::isfinite(row.rate_across.value)) unknowns.push_back({"rate_across", Constant::rate, cost});
    }
    return unknowns;
}

inline bool is_inverted(Constant kind) { return kind == Constant::efficiency || kind == Constant::rate; }

// The field of a Library or a const Library.
template <class AnyLibrary>
auto& field(AnyLibrary& library, const Unknown& unknown) {
    if (unknown.cost == library.costs.size()) return library.launch.value;
    auto& cost = library.costs[unknown.cost];
    if (unknown.name == "step_in_node") return cost.step_in_node.value;
    if (unknown.name == "step_across") return cost.step_across.value;
    if (unknown.name == "efficiency_in_node") return cost.efficiency_in_node;
    if (unknown.name == "efficiency_across") return cost.efficiency_across;
    if (unknown.name == "rate_in_node") return cost.rate_in_node.value;
    WEFT_CHECK(unknown.name == "rate_across", "a known constant");
    return cost.rate_across.value;
}

// As the machine file has it.
inline double stated(const Unknown& unknown, double value) { return is_inverted(unknown.kind) ? 1.0 / value : value; }

// Of the linear model.
inline double value_of(const Library& library, const Unknown& unknown) {
    return stated(unknown, field(library, unknown));
}

// A shared efficiency that is no other than that across follows it, as in a machine file that leaves it out.
inline void set_value(Library& library, const Unknown& unknown, double value) {
    const bool follows = unknown.name == "efficiency_across" &&
                         library.costs[unknown.cost].efficiency_shared == library.costs[unknown.cost].efficiency_across;
    field(library, unknown) = stated(unknown, value);
    if (follows) library.costs[unknown.cost].efficiency_shared = library.costs[unknown.cost].efficiency_across;
}

// A group of ranks as it was measured, laid on its machine once, to be costed with any constants.
class MeasuredGroup {
  public:
    MeasuredGroup(Topology topology, const Library& library, const SetLayout& layout)
        : topology_(std::move(topology)), set_(topology_, library, layout) {}

    // Ready to choose by the constants of `library`, which must outlive it and not change.
    GroupCosts costs(const Library& library) {
        return {topology_, library, set_.costs().shape(), [this](Order order) { return communicators(order); }};
    }

    MeasuredGroup(const MeasuredGroup&) = delete;  // set_ refers to topology_
    MeasuredGroup& operator=(const MeasuredGroup&) = delete;

  private:
    const std::vector<Communicator>& communicators(Order order) {
        const auto [it, fresh] = communicators_.try_emplace(order);
        if (fresh) it->second = set_.communicators(order);
        return it->second;
    }

    Topology topology_;
    CollectiveSet set_;
    std::map<Order, std::vector<Communicator>> communicators_;
};

}  // namespace weft
