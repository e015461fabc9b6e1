#include "workloads/folding/folding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "sim/base/palette.hpp"
#include "sim/symmetry/symmetry.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

// The distinct algorithms that the calls of a family run, in the order of the calls.
std::vector<Choice> choices_of(Family& family) {
    std::vector<Choice> choices;
    for (const Call& call : family.calls) {
        const std::optional<Choice> choice = family.costs->choose(call.op, call.message);
        if (choice && std::ranges::find(choices, *choice) == choices.end()) choices.push_back(*choice);
    }
    return choices;
}

std::vector<std::uint32_t> stage_of_ranks(const Plan& plan) {
    const RankGrid grid = plan.job.layout.grid();
    std::vector<std::uint32_t> stage(grid.ranks());
    for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) stage[rank] = grid.coordinate(RankId{rank}, "pipeline");
    return stage;
}

// Ranks of a stage that are equally slow start in one class.
std::vector<std::uint32_t> by_speed(const std::vector<std::uint32_t>& stage, const Faults& faults) {
    if (faults.slow.empty()) return stage;
    Palette palette;
    return list_of<std::uint32_t>(numbers_below<std::uint32_t>(stage.size()), [&](std::uint32_t rank) {
        const std::uint64_t signature[] = {stage[rank], std::bit_cast<std::uint64_t>(slowness(faults, RankId{rank}))};
        return palette.colour_of(signature);
    });
}

enum class Costs : std::uint8_t { ignored, compared };

Symmetry describe(const Topology& topology, Families& families, std::vector<std::uint32_t> start, Costs costs) {
    Symmetry symmetry(topology, std::move(start));
    std::vector<std::vector<Choice>> choices;
    if (costs == Costs::compared) {
        for (Family& family : families.families()) {
            choices.push_back(family.shape.members > 1 ? choices_of(family) : std::vector<Choice>{});
        }
    }
    for (std::uint32_t group = 0; group < families.groups(); ++group) {
        const std::uint32_t number = families.family_of(group);
        Family& family = families.families()[number];
        symmetry.add_group(number, families.members(group));
        if (costs == Costs::ignored || family.shape.members == 1) continue;
        GroupCosts alone = families.costs(std::span(&group, 1), *family.costs);
        for (const Choice& choice : choices[number]) {
            for (const PhaseCost& stretch : alone.phases(choice)) symmetry.add_stretch(stretch);
        }
    }
    return symmetry;
}

// Numbers classes by stage and first rank.
RankClasses classes_of(const Symmetry::Colours& colours, const std::vector<std::uint32_t>& stage) {
    RankClasses classes;
    std::vector<std::uint32_t> cell_of(colours.by_links, nowhere);  // by colour
    for (std::uint32_t rank = 0; rank < stage.size(); ++rank) {
        std::uint32_t& cell = cell_of[colours.of_rank[rank]];
        if (cell == nowhere) {
            cell = static_cast<std::uint32_t>(classes.cells.size());
            classes.cells.push_back({stage[rank], RankId{rank}, 0});
        }
        ++classes.cells[cell].weight;
    }
    auto order = numbers_below<std::uint32_t>(classes.cells.size());
    std::vector<std::uint32_t> place(order.size());
    std::ranges::stable_sort(order, {}, [&](std::uint32_t cell) { return classes.cells[cell].stage; });
    std::vector<Cell> sorted;
    for (const std::uint32_t cell : order) {
        place[cell] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(classes.cells[cell]);
    }
    classes.cells = std::move(sorted);
    for (const std::uint32_t colour : colours.of_rank) classes.of_rank.push_back(place[cell_of[colour]]);
    classes.of_group = colours.of_group;
    for (const std::uint32_t group : classes.of_group) classes.groups = std::max(classes.groups, group + 1);
    return classes;
}

std::string names_of(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(each_once(names), ", "));
}

std::vector<Split> splits_of(const Plan& plan, const Symmetry::Colours& colours, const Topology& topology,
                             Families& families) {
    std::vector<Split> splits;
    if (colours.at_start > plan.stages.size()) {
        splits.push_back({colours.at_start, has_jitter(plan.job.faults) ? "jitter" : "accelerators of unequal speed"});
    }
    if (colours.by_members > colours.at_start) {
        splits.push_back({colours.by_members, "groups of unequal members or shape on nodes"});
    }
    if (colours.by_costs > colours.by_members) {
        const auto names = list_of<std::string>(colours.uneven_kinds, [&](std::uint32_t family) {
            return lanes::dimension_name(families.families()[family].kind);
        });
        splits.push_back(
            {colours.by_costs, fmt::format("routes of unequal latency or bandwidth ({} groups)", names_of(names))});
    }
    if (colours.by_links > colours.by_costs) {
        const auto name = [&](LinkClassId id) { return topology.classes[id].name; };
        const auto names = list_of<std::string>(colours.shared_links, name);
        splits.push_back({colours.by_links, fmt::format("links shared unequally ({})", names_of(names))});
    }
    return splits;
}

}  // namespace

RankClasses fold(const Plan& plan, const Topology& topology, Families& families, Folding folding) {
    WEFT_CHECK(folding != Folding::automatic, "folding without a choice");
    const std::vector<std::uint32_t> stage = stage_of_ranks(plan);
    const Faults& faults = plan.job.faults;
    std::vector<std::uint32_t> start = has_jitter(faults) || folding == Folding::none
                                           ? numbers_below<std::uint32_t>(stage.size())
                                           : by_speed(stage, faults);
    const Costs costs = folding == Folding::exact ? Costs::compared : Costs::ignored;
    const Symmetry::Colours colours = describe(topology, families, std::move(start), costs).refine();
    RankClasses classes = classes_of(colours, stage);
    for (Cell& cell : classes.cells) cell.slowness = slowness(faults, cell.representative);
    classes.folding = folding;
    if (folding != Folding::none) {
        classes.splits = splits_of(plan, colours, topology, families);
    }
    return classes;
}

}  // namespace weft
