#include "workloads/explain/limit_shares.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// Small enough that hardly any kernel changes the limit that it runs at, large enough for doubles.
constexpr double step_of_limit = 1e-6;

// The step of a device of which one limit is higher.
Step with_higher(const DeviceLimit& limit, const Study& study, bool host_bound, PreparedTopology& prepared,
                 Folding folding) {
    Study higher = study;
    limit.speed_up(higher.device, 1.0 + step_of_limit);
    Plan plan = make_plan(higher);
    plan.host_bound = host_bound;
    return build_step(plan, prepared.costs(plan), folding);
}

bool have_one_structure(const Program& a, const Program& b) {
    return std::ranges::equal(a.ops, b.ops, [](const Op& left, const Op& right) {
        return left.kind == right.kind && left.lane == right.lane && left.label == right.label;
    });
}

}  // namespace

LimitShares::LimitShares(const Study& study, const Plan& plan, PreparedTopology& prepared, Folding folding,
                         const Step& step)
    : program_(step.program) {
    WEFT_CHECK(device_limits().size() == limits, "as many shares as a device has limits");
    for (std::size_t limit = 0; limit < limits; ++limit) {
        const Step higher = with_higher(device_limits()[limit], study, plan.host_bound, prepared, folding);
        if (!have_one_structure(program_, higher.program)) continue;
        std::vector<float>& shares = shares_[limit];
        shares.resize(program_.ops.size());
        for (OpId op{}; op != program_.ops.end_id(); op = next(op)) {
            const Op &own = program_.ops[op], &other = higher.program.ops[op];
            if (own.kind != OpKind::compute || program_.work[own.subject].value <= 0.0) continue;
            const double faster = 1.0 - higher.program.work[other.subject] / program_.work[own.subject];
            shares[index(op)] =
                static_cast<float>(std::clamp(faster / step_of_limit * (1.0 + step_of_limit), 0.0, 1.0));
        }
    }
}

std::array<double, LimitShares::limits> LimitShares::of(OpId compute) const {
    std::array<double, limits> shares{};
    for (std::size_t limit = 0; limit < limits; ++limit) {
        if (!shares_[limit].empty()) shares[limit] = shares_[limit][index(compute)];
    }
    return shares;
}

}  // namespace weft
