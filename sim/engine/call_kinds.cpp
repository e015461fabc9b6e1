#include "sim/engine/call_kinds.hpp"

#include <map>
#include <tuple>

namespace weft {

CallKinds::CallKinds(const Program& program, LaneId compute)
    : program_(program), compute_(compute), lanes_(program.lanes.size()) {
    std::map<std::tuple<Collective, std::uint32_t, Bytes, std::uint32_t>, std::uint32_t> shapes;
    for (const Communication& what : program.communications) {
        const auto next_shape = static_cast<std::uint32_t>(shapes.size());
        const std::tuple shape{what.op, what.group_size, what.message, what.method};
        shape_.push_back(shapes.try_emplace(shape, next_shape).first->second);
    }
    std::vector<bool> used(shapes.size() * lanes_, false);
    const auto use = [&](OpId id) {
        const Op& op = program.ops[id];
        if (op.kind == OpKind::exchange)
            used[shape_[program.communication_of(op)] * lanes_ + index(lane_of(op))] = true;
    };
    std::vector<bool> runs(program.routines.size(), false);
    for (const RankClass& rank_class : program.classes) {
        for (OpId op{rank_class.first_op}; index(op) < rank_class.end_op(); op = next(op)) {
            use(op);
            if (program.ops[op].kind == OpKind::routine) runs[program.ops[op].subject] = true;
        }
    }
    for (RoutineId id{}; id != program.routines.end_id(); id = next(id)) {
        const Routine& routine = program.routines[id];
        for (std::uint32_t i = 0; runs[index(id)] && i < routine.ops; ++i) use(OpId{routine.first_op + i});
    }
    slot_.resize(used.size());
    for (LaneId lane{}; index(lane) < lanes_; lane = next(lane)) {
        for (const auto& [shape, number] : shapes) {  // in the order of operation, group size, message and method
            const std::size_t i = number * lanes_ + index(lane);
            if (!used[i]) continue;
            slot_[i] = static_cast<std::uint32_t>(kinds_.size());
            const auto& [operation, group_size, message, method] = shape;
            kinds_.push_back({.lane = lane,
                              .op = operation,
                              .group_size = group_size,
                              .message = message,
                              .method = method,
                              .messages = {},
                              .time = {}});
        }
    }
}

}  // namespace weft
