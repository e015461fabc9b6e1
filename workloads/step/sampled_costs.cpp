#include "workloads/step/sampled_costs.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/collective/moved_communicator.hpp"
#include "sim/collective/row_parts.hpp"
#include "sim/collective/row_passes.hpp"

namespace weft {
namespace {

// The messages of a group are looked at one by one, which for all to all are many.
constexpr std::size_t most_all_to_all = 128;

}  // namespace

bool SampledCosts::serves(const Topology& topology) { return topology.fabric() != nullptr; }

SampledCosts::SampledCosts(const Topology& topology, Library library, Sampling sampling)
    : topology_(topology), library_(std::move(library)), sampling_(sampling), planner_(topology), sample_(topology) {}

// Where many groups of one row pass several switches of a tree, each by itself, every message on these switches is
// looked at one by one, and few of the switches are alike: groups that are others moved are then told faster.
bool SampledCosts::serves(const PartedRow& row) const {
    constexpr std::uint32_t few = 8;
    constexpr std::size_t few_members = 2048;
    const std::uint32_t moves = row.groups().nodewise();
    if (sampling_ == Sampling::wherever_possible || moves <= few || topology_.fabric()->has_mesh()) return true;
    const auto is_single = [](const RowPart& part) { return part.kind == RowPart::Kind::single; };
    const auto apart = std::ranges::count_if(row.parts(true), is_single);
    return apart <= moves / few || static_cast<std::size_t>(apart) * row.groups().members.size() <= few_members;
}

SampledCosts::Row* SampledCosts::add(GroupRow groups) {
    auto [surveys, move] = surveys_of(std::move(groups));
    if (!serves(surveys.parted())) return nullptr;
    return &rows_.emplace_back(Row{.surveys = surveys, .move = std::move(move)});
}

GroupCosts* SampledCosts::add(Row& row, std::span<const Call> calls) {
    RowSurveys& surveys = row.surveys;
    row.costs = std::make_unique<GroupCosts>(
        topology_, library_, surveys.shape(),
        GroupCosts::Elsewhere{
            .costs = [this, &row](const Choice& choice) { return work_out(row, choice); },
            .costs_unloaded = [this, &surveys](const Choice& choice) { return work_out(surveys, choice); },
            .phases = [&surveys](const Algorithm& algorithm) -> const std::vector<Phase>& {
                return surveys.phases(algorithm);
            }});
    if (surveys.row().members.size() == 1) return row.costs.get();
    for (const Call& call : calls) {
        for (const Choice& choice : row.costs->in_question(call.op, call.message)) {
            if (!serves(surveys, *choice.algorithm)) return nullptr;
        }
        const std::optional<Choice> taken = row.costs->choose(call.op, call.message);
        if (taken) count(row, *taken->algorithm);
    }
    return row.costs.get();
}

bool SampledCosts::serves(RowSurveys& surveys, const Algorithm& algorithm) {
    if (!surveys.lay(algorithm.order)) return false;
    return surveys.row().members.size() <= most_all_to_all ||
           std::ranges::none_of(surveys.phases(algorithm), [](const Phase& p) { return p.peer == Peer::all; });
}

// Of these groups, or of those that they are, moved.
std::pair<RowSurveys&, TreeMove> SampledCosts::surveys_of(GroupRow groups) {
    for (RowSurveys& known : surveys_) {
        const GroupRow& row = known.row();
        if (row.members.size() != groups.members.size() || row.moves != groups.moves || row.within != groups.within) {
            continue;
        }
        const std::optional<std::int32_t> by = shift_between(row.members, groups.members);
        if (!by || *by < 0 || static_cast<std::uint32_t>(*by) % topology_.ranks_per_node != 0) continue;
        std::optional<TreeMove> move =
            tree_move(*topology_.fabric(), known.parted(), static_cast<std::uint32_t>(*by) / topology_.ranks_per_node);
        if (move) return {known, std::move(*move)};
    }
    return {surveys_.emplace_back(topology_, sample_.circles(), planner_, std::move(groups)), {}};
}

// Of messages that the row has not been counted with.
void SampledCosts::count(Row& row, const Algorithm& algorithm) {
    for (const Phase& phase : row.surveys.phases(algorithm)) {
        RowTraffic& traffic = row.surveys.traffic(algorithm.order, phase);
        if (std::ranges::find(row.kinds, &traffic, &Kind::traffic) != row.kinds.end()) continue;
        sample_.count(traffic.survey(), row.move);
        row.kinds.push_back({.traffic = &traffic});
    }
}

std::vector<PhaseCost> SampledCosts::work_out(RowSurveys& surveys, const Choice& choice) {
    const auto cost_of = [&](const Phase& phase) {
        return surveys.traffic(choice.algorithm->order, phase).on_idle_links(phase, *choice.protocol);
    };
    return cost(surveys.phases(*choice.algorithm), cost_of, library_, *choice.protocol);
}

std::vector<PhaseCost> SampledCosts::work_out(Row& row, const Choice& choice) {
    const auto cost_of = [&](const Phase& phase) {
        RowTraffic& traffic = row.surveys.traffic(choice.algorithm->order, phase);
        const auto kind = std::ranges::find(row.kinds, &traffic, &Kind::traffic);
        WEFT_CHECK(kind != row.kinds.end(), "an algorithm that no call of the row takes");
        if (!kind->passes) kind->passes = passes_of({topology_, sample_, traffic.survey(), traffic.shown(), row.move});
        return traffic.loading(*kind->passes, phase, *choice.protocol);
    };
    return cost(row.surveys.phases(*choice.algorithm), cost_of, library_, *choice.protocol);
}

}  // namespace weft
