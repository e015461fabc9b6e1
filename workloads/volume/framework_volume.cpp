#include <algorithm>
#include <map>
#include <tuple>

#include "sim/base/check.hpp"
#include "workloads/step/lanes.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {
namespace {

bool repeats(LaneId lane) { return lane != lanes::data && lane != lanes::model && lane != lanes::embedding; }

}  // namespace

Bytes wire_volume(Collective op, Bytes message, std::uint32_t n) {
    // Multiplied before divided: exact for the integers that bytes are.
    const double others = n - 1.0;
    switch (op) {
        case Collective::all_reduce:
            return {2 * message.value * others / n};
        case Collective::all_gather:
        case Collective::reduce_scatter:
        case Collective::reduce:  // as the study counts it
        case Collective::all_to_all:
            return {message.value * others / n};
        case Collective::broadcast:
        case Collective::point_to_point:
            return message;
    }
    WEFT_CHECK(false, "unknown collective");
    return {};
}

Bytes VolumeTable::total() const {
    Bytes sum;
    for (const VolumeRow& row : rows) sum += row.volume * (row.when == "micro-batch" ? micro_batches : 1.0);
    return sum;
}

VolumeTable framework_volume(const Plan& plan, const Step& step, RankId rank) {
    const std::uint32_t stage = plan.job.layout.grid().coordinate(rank, "pipeline");
    const auto& classes = step.program.classes;
    RankClassId own{};
    while (step.stage[own] != stage ||
           (classes[own].weight == 1 && plan.job.layout.grid().slice("pipeline", stage).size() > 1 &&
            classes[own].representative != rank)) {
        own = next(own);
        WEFT_CHECK(index(own) < classes.size(), "no class holds the rank");
    }
    std::map<std::tuple<LaneId, std::string, double>, std::pair<const Communication*, std::uint64_t>> seen;
    for (std::uint32_t i = 0; i < classes[own].ops; ++i) {
        const Op& op = step.program.ops[OpId{classes[own].first_op + i}];
        if (op.kind != OpKind::exchange) continue;
        const Communication& what =
            step.program.communications[step.program.exchanges[ExchangeId{op.subject}].communication];
        auto& entry = seen[{op.lane, lanes::operation_name(what.op, op.lane), what.message.value}];
        entry.first = &what;
        ++entry.second;
    }
    VolumeTable table;
    table.micro_batches = plan.job.micro_batches();
    for (const auto& [key, entry] : seen) {
        const auto& [lane, op, message] = key;
        const auto& [what, count] = entry;
        const bool per_micro_batch = repeats(lane) && count % table.micro_batches == 0;
        const double calls = static_cast<double>(count) / (per_micro_batch ? table.micro_batches : 1);
        table.rows.push_back({.op = op,
                              .dimension = lanes::dimension_name(lane),
                              .group_size = what->group_size,
                              .calls = calls,
                              .message = what->message,
                              .volume = wire_volume(what->op, what->message * calls, what->group_size),
                              .when = per_micro_batch ? "micro-batch" : "step"});
    }
    return table;
}

}  // namespace weft
