// The calls of a stage's script by their label.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "workloads/plan/plan.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft::test {

struct Called {
    std::size_t calls = 0;
    double bytes = 0;    // of all
    RankGroups group{};  // of the last
    std::string type;    // of the last
};

inline Called called(const Plan& plan, std::uint32_t stage, std::string_view label) {
    Called sum;
    const Script script = step_script(plan, stage, StepKind::steady);
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
        const Call& call = script.calls()[action.subject];
        if (call.label != label) continue;
        ++sum.calls;
        sum.bytes += call.message.value;
        sum.group = call.group;
        sum.type = call.type;
    }
    return sum;
}

}  // namespace weft::test
