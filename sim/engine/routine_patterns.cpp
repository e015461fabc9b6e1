#include "sim/engine/routine_patterns.hpp"

#include <algorithm>

namespace weft {
namespace {

// Of the flows of an exchange.
template <class Visit>
void for_each_pattern(const Program& program, const ExchangeSteps& steps, OpId op, Visit visit) {
    if (program.ops[op].kind != OpKind::exchange) return;
    const CommunicationId id = program.exchanges[ExchangeId(program.ops[op].subject)].communication;
    for (const ExchangeSteps::Step& step : steps.of(id)) {
        if (step.kind == ExchangeSteps::Kind::flow) visit(step.pattern);
    }
}

}  // namespace

RoutinePatterns::RoutinePatterns(const Program& program, const ExchangeSteps& steps)
    : program_(program), steps_(steps) {
    for (const Routine& routine : program.routines) {
        const auto first = static_cast<std::ptrdiff_t>(uses_.size());
        for (std::uint32_t op = routine.first_op; op < routine.first_op + routine.ops; ++op) {
            for_each_pattern(program, steps, OpId{op}, [&](PatternId pattern) {
                const auto known = std::find_if(uses_.begin() + first, uses_.end(),
                                                [pattern](const Use& use) { return use.pattern == pattern; });
                if (known == uses_.end()) {
                    uses_.push_back({pattern, op});
                } else {
                    known->last = op;
                }
            });
        }
        first_.push_back(uses_.size());
    }
}

std::uint32_t RoutinePatterns::next_use(PatternId pattern, std::uint32_t from) const {
    while (!uses(OpId{from}, pattern)) ++from;
    return from;
}

bool RoutinePatterns::uses(OpId op, PatternId pattern) const {
    bool found = false;
    for_each_pattern(program_, steps_, op, [&](PatternId other) { found = found || other == pattern; });
    return found;
}

}  // namespace weft
