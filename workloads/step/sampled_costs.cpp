#include "workloads/step/sampled_costs.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/collective/moved_communicator.hpp"
#include "sim/collective/row_parts.hpp"

namespace weft {
namespace {

// The messages of a group are looked at one by one, which for all to all are many.
constexpr std::size_t most_all_to_all = 128;

}  // namespace

// Where it routes adaptively, what settles on detours depends on all links; faults tell nodes apart.
bool SampledCosts::serves(const Topology& topology) {
    return topology.node_links > 0 && topology.routing != Routing::adaptive && topology.router->tree() != nullptr;
}

SampledCosts::SampledCosts(const Topology& topology, Library library, Sampling sampling)
    : topology_(topology), library_(std::move(library)), sampling_(sampling), planner_(topology), sample_(topology) {}

// Where many groups of one row pass several switches, each by itself, every message on these switches is looked at one
// by one, and few of the switches are alike: groups that are others moved are then told faster.
bool SampledCosts::serves(const PartedRow& row) const {
    constexpr std::uint32_t few = 8;
    constexpr std::size_t few_members = 2048;
    const std::uint32_t moves = row.groups().nodewise();
    if (sampling_ == Sampling::wherever_possible || moves <= few) return true;
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
        GroupCosts::Elsewhere{.costs = [this, &row](const Choice& choice) { return work_out(row, choice); },
                              .phases = [&surveys](const Algorithm& algorithm) -> const std::vector<Phase>& {
                                  return surveys.phases(algorithm);
                              }});
    const std::size_t members = surveys.row().members.size();
    if (members == 1) return row.costs.get();
    for (const Call& call : calls) {
        for (const Choice& choice : row.costs->in_question(call.op, call.message)) {
            const Algorithm& algorithm = *choice.algorithm;
            if (!row.algorithms.insert(&algorithm).second) continue;
            if (!surveys.lay(algorithm.order)) return nullptr;
            for (const Phase& phase : surveys.phases(algorithm)) {
                if (phase.peer == Peer::all && members > most_all_to_all) return nullptr;
                kind_of(row, algorithm.order, phase);
            }
        }
    }
    return row.costs.get();
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
            tree_move(topology_, known.parted(), static_cast<std::uint32_t>(*by) / topology_.ranks_per_node);
        if (move) return {known, std::move(*move)};
    }
    return {surveys_.emplace_back(topology_, sample_.circles(), planner_, std::move(groups)), {}};
}

// Counts the messages of a kind that it has not met.
SampledCosts::Kind& SampledCosts::kind_of(Row& row, Order order, const Phase& phase) {
    RowSurveys::Survey& survey = row.surveys.survey(order, phase);
    const auto known = std::ranges::find(row.kinds, &survey, &Kind::survey);
    if (known != row.kinds.end()) return *known;
    sample_.count(survey.messages, row.move);
    return row.kinds.emplace_back(Kind{.survey = &survey});
}

std::vector<PhaseCost> SampledCosts::work_out(Row& row, const Choice& choice) {
    WEFT_CHECK(row.algorithms.contains(choice.algorithm), "a call that groups of a sample were not said to make");
    const auto traffic_of = [&](const Phase& phase) -> const RowTraffic& {
        Kind& kind = kind_of(row, choice.algorithm->order, phase);
        if (kind.traffic == nullptr) {
            RowSurveys::Survey& survey = *kind.survey;
            const CountedRow counted{topology_, sample_, survey.messages, survey.shown(), row.move};
            kind.traffic = std::make_unique<RowTraffic>(counted, survey.latencies, survey.communicator);
        }
        return *kind.traffic;
    };
    return cost(row.surveys.phases(*choice.algorithm), traffic_of, library_, *choice.protocol);
}

}  // namespace weft
