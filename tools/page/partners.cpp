#include "tools/page/simulation_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "workloads/layout/layout.hpp"
#include "workloads/step/lanes.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

// Bytes that one rank of a stage sends in a step, mean over the ranks of the stage.
struct Sent {
    std::map<LaneId, std::map<std::uint32_t, double>> to_group;          // by lane and stage
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> to_stage;  // from, to
};

struct Parties {
    std::optional<std::uint32_t> sender, receiver;  // stages
};

// The stages between which each message goes.
std::vector<Parties> parties_of(const Step& step) {
    const Program& program = step.program;
    std::vector<Parties> parties(program.exchanges.size());
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        const RankClass& rank_class = program.classes[id];
        for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
            const Op& op = program.ops[OpId{i}];
            if (op.kind != OpKind::exchange || !lanes::is_pipeline(op.lane)) continue;
            Parties& both = parties[op.subject];
            (lanes::is_send(op.lane) ? both.sender : both.receiver) = step.stage[id];
        }
    }
    return parties;
}

Sent sent_by_ranks(const Simulation& run) {
    const Program& program = run.step.program;
    const std::vector<Parties> parties = parties_of(run.step);
    const double ranks = run.plan.job.layout.ranks_of_stage();
    Sent sent;
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        const RankClass& rank_class = program.classes[id];
        const double share = rank_class.weight / ranks;
        for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
            const Op& op = program.ops[OpId{i}];
            if (op.kind != OpKind::exchange) continue;
            const Communication& call = program.communications[program.communication_of(op)];
            const double bytes = wire_volume(call.op, call.message, call.group_size).value * share;
            if (!lanes::is_pipeline(op.lane)) {
                sent.to_group[op.lane][run.step.stage[id]] += bytes;
            } else if (const Parties& both = parties[op.subject]; lanes::is_send(op.lane) && both.receiver) {
                sent.to_stage[{run.step.stage[id], *both.receiver}] += bytes;
            }
        }
    }
    return sent;
}

class Matrices {
  public:
    explicit Matrices(const Simulation& run) : layout_(run.plan.job.layout), grid_(layout_.grid()) {
        const std::uint32_t ranks = layout_.ranks();
        if (ranks > most_partner_cells) result_.ranks_per_cell = run.plan.job.ranks_per_node;
        while (cells(ranks) > most_partner_cells) result_.ranks_per_cell *= 2;
        result_.cells = cells(ranks);
        const Sent sent = sent_by_ranks(run);
        for (const auto& [lane, by_stage] : sent.to_group) add_groups(lane, by_stage);
        for (const auto& [stages, bytes] : sent.to_stage) add_messages(stages.first, stages.second, bytes);
    }

    Partners take() { return std::move(result_); }

  private:
    std::uint32_t cells(std::uint32_t ranks) const {
        return (ranks + result_.ranks_per_cell - 1) / result_.ranks_per_cell;
    }
    std::size_t cell(RankId rank) const { return index(rank) / result_.ranks_per_cell; }

    std::vector<double>& matrix(const std::string& dimension) {
        for (PartnerBytes& known : result_.dimensions) {
            if (known.dimension == dimension) return known.bytes;
        }
        const std::size_t size = std::size_t{result_.cells} * result_.cells;
        return result_.dimensions.emplace_back(PartnerBytes{dimension, std::vector<double>(size)}).bytes;
    }

    void add_groups(LaneId lane, const std::map<std::uint32_t, double>& by_stage) {
        std::vector<double>& bytes = matrix(lanes::dimension_name(lane));
        const PlacedGroups groups(lanes::groups(lane), layout_);
        std::vector<bool> done(layout_.ranks(), false);
        for (std::uint32_t rank = 0; rank < done.size(); ++rank) {
            if (done[rank]) continue;
            const std::vector<RankId> members = groups.members(RankId{rank});
            for (const RankId member : members) done[index(member)] = true;
            done[rank] = true;
            if (members.size() > 1) add_group(members, by_stage, bytes);
        }
    }

    // Cell by cell, since a group may have thousands of members.
    void add_group(const std::vector<RankId>& members, const std::map<std::uint32_t, double>& by_stage,
                   std::vector<double>& bytes) const {
        struct Part {
            double members = 0, sent = 0;
        };
        std::map<std::size_t, Part> parts;
        for (const RankId member : members) {
            const auto sent = by_stage.find(grid_.coordinate(member, "pipeline"));
            Part& part = parts[cell(member)];
            part.members += 1;
            part.sent += sent == by_stage.end() ? 0.0 : sent->second / static_cast<double>(members.size() - 1);
        }
        for (const auto& [from, sender] : parts) {
            for (const auto& [to, receiver] : parts) {
                const double others = receiver.members - (from == to ? 1.0 : 0.0);  // nobody sends to itself
                bytes[from * result_.cells + to] += sender.sent * others;
            }
        }
    }

    // From every rank of a stage to that of the same place in another.
    void add_messages(std::uint32_t from, std::uint32_t to, double sent) {
        std::vector<double>& bytes = matrix("pipeline");
        const std::uint32_t stride = grid_.stride("pipeline");
        for (const RankId sender : grid_.slice("pipeline", from)) {
            const RankId receiver{static_cast<std::uint32_t>(sender) - from * stride + to * stride};
            bytes[cell(sender) * result_.cells + cell(receiver)] += sent;
        }
    }

    const Layout& layout_;
    RankGrid grid_;
    Partners result_;
};

constexpr std::uint32_t left_out = std::numeric_limits<std::uint32_t>::max();

// One side of a matrix: which of its numbers are drawn, and in which cell.
struct Numbers {
    std::vector<bool> used;
    std::vector<std::uint32_t> cell{};  // or left_out
    MapSide side{};

    void deal() {
        const auto drawn = list_of_those<std::uint32_t>(numbers_below<std::uint32_t>(used.size()),
                                                        [&](std::uint32_t number) { return used[number]; });
        const auto count = static_cast<std::uint32_t>(drawn.size());
        side.per_cell = std::max(1U, (count + most_map_cells - 1) / most_map_cells);
        cell.assign(used.size(), left_out);
        for (std::uint32_t i = 0; i < count; ++i) cell[drawn[i]] = i / side.per_cell;
        for (std::uint32_t first = 0; first < count; first += side.per_cell) {
            const std::uint32_t last = std::min(first + side.per_cell, count) - 1;
            side.names.push_back(first == last ? fmt::to_string(drawn[first])
                                               : fmt::format("{}\u2013{}", drawn[first], drawn[last]));
        }
    }
};

struct Drawing {
    LinkMatrix what;
    Numbers rows, columns;
    std::map<std::pair<std::uint32_t, std::uint32_t>, MapCell> cells{};

    explicit Drawing(LinkMatrix matrix)
        : what(std::move(matrix)), rows{std::vector<bool>(what.rows)}, columns{std::vector<bool>(what.columns)} {}

    bool joins_equals() const { return what.to_row.empty(); }
    void use(const MatrixPlace& place) {
        rows.used[place.row] = columns.used[place.column] = true;
        if (joins_equals()) rows.used[place.column] = columns.used[place.row] = true;
    }
    void add(const MatrixPlace& place, Bytes bytes, double busy) {
        const std::uint32_t row = rows.cell[place.row], column = columns.cell[place.column];
        if (row == left_out || column == left_out) return;
        MapCell& cell = cells.try_emplace({row, column}, MapCell{.row = row, .column = column}).first->second;
        CellTraffic& carried = place.direction == MatrixDirection::to_column ? cell.to_column : cell.to_row;
        carried.busiest = std::max(carried.busiest, busy);
        carried.bytes += bytes;
        ++carried.links;
    }
    MapMatrix take() && {
        MapMatrix matrix{
            .what = std::move(what), .rows = std::move(rows.side), .columns = std::move(columns.side), .cells = {}};
        for (const auto& [where, cell] : cells) matrix.cells.push_back(cell);
        return matrix;
    }
};

}  // namespace

Partners partners(const Simulation& run) { return Matrices(run).take(); }

std::vector<MapMatrix> fabric_map(const Topology& topology, const LinkTraffic& traffic) {
    std::vector<Drawing> drawings;
    for (LinkMatrix& what : topology.wiring->matrices()) drawings.emplace_back(std::move(what));
    const auto each_placed = [&](auto visit) {
        for (LinkId link{}; link != traffic.bytes.end_id(); link = next(link)) {
            if (const std::optional<MatrixPlace> place = topology.wiring->place(link)) {
                visit(link, drawings[place->matrix], *place);
            }
        }
    };
    each_placed([&](LinkId link, Drawing& drawing, const MatrixPlace& place) {
        if (traffic.bytes[link] > Bytes{}) drawing.use(place);
    });
    for (Drawing& drawing : drawings) drawing.rows.deal(), drawing.columns.deal();
    each_placed([&](LinkId link, Drawing& drawing, const MatrixPlace& place) {
        drawing.add(place, traffic.bytes[link], traffic.busy(topology, link));
    });
    return list_of<MapMatrix>(drawings, [](Drawing& drawing) { return std::move(drawing).take(); });
}

}  // namespace weft
