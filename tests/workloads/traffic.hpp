// All that the ranks of a job exchange in a step, added up twice: from the program that the engine runs, and from the
// volume table of every rank.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>

#include "workloads/step/lanes.hpp"
#include "workloads/step/step_builder.hpp"
#include "workloads/volume/volume.hpp"

namespace weft::test {

// Of one kind of call, over all ranks.
struct Traffic {
    double calls = 0;     // whole numbers below 2^53, so sums are exact
    double messages = 0;  // bytes of the full tensors
    double volume = 0;    // bytes on the wire
};
using TrafficTable = std::map<std::tuple<std::string, std::string, std::uint32_t>, Traffic>;  // dimension, op, group

inline void print(std::ostream& out, const TrafficTable& table) {
    for (const auto& [key, traffic] : table) {
        out << std::get<0>(key) << " " << std::get<1>(key) << " of " << std::get<2>(key) << ": " << traffic.calls
            << " calls, " << traffic.messages << " B of messages, " << traffic.volume << " B on the wire\n";
    }
}

inline TrafficTable traffic_of_program(const Step& step) {
    const Program& program = step.program;
    TrafficTable table;
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t i = 0; i < rank_class.ops; ++i) {
            const Op& op = program.ops[OpId{rank_class.first_op + i}];
            if (op.kind != OpKind::exchange) continue;
            const Exchange& exchange = program.exchanges[ExchangeId{op.subject}];
            const Communication& what = program.communications[exchange.communication];
            Traffic& sum =
                table[{lanes::dimension_name(op.lane), lanes::operation_name(what.op, op.lane), what.group_size}];
            sum.calls += rank_class.weight;
            sum.messages += rank_class.weight * what.message.value;
            sum.volume += rank_class.weight * wire_volume(what.op, what.message, what.group_size).value;
        }
    }
    return table;
}

// Of a steady step. Calls among one rank put nothing on the wire and are left out.
inline TrafficTable traffic_of_tables(const Plan& plan) {
    TrafficTable table;
    const RankGrid grid = plan.job.layout.grid();
    for (std::uint32_t stage = 0; stage < plan.job.layout.pipeline; ++stage) {
        const std::vector<RankId> ranks = grid.slice("pipeline", stage);
        const auto weight = static_cast<double>(ranks.size());  // the last rank stands for all: scripts are per stage
        for (const VolumeRow& row : framework_volume(plan, ranks.back()).rows) {
            const bool repeats = row.when == "micro-batch";
            if (row.group_size == 1 || !(repeats || row.when == "step")) continue;
            const double times = weight * (repeats ? plan.job.micro_batches() : 1);
            Traffic& sum = table[{row.dimension, row.op, row.group_size}];
            sum.calls += times * row.calls;
            sum.messages += times * row.calls * row.message.value;
            sum.volume += times * row.volume.value;
        }
    }
    return table;
}

// Empty if both hold the same, else both.
inline std::string difference(const TrafficTable& program, const TrafficTable& tables) {
    const auto equal = [](double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)); };
    bool same = program.size() == tables.size();
    for (const auto& [key, a] : program) {
        const auto other = tables.find(key);
        if (other == tables.end()) {
            same = false;
            break;
        }
        const Traffic& b = other->second;
        // The volume of a group that is no power of two is rounded.
        same = same && a.calls == b.calls && a.messages == b.messages && equal(a.volume, b.volume);
    }
    if (same) return {};
    std::ostringstream text;
    text << "the program:\n";
    print(text, program);
    text << "the tables:\n";
    print(text, tables);
    return text.str();
}

}  // namespace weft::test
