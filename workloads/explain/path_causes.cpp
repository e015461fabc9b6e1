#include "workloads/explain/path_causes.hpp"

#include <algorithm>
#include <cmath>

#include "sim/engine/ticks.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

// Hands out ticks of a piece until none are left, so that they sum to it whatever is rounded.
class Purse {
  public:
    Purse(std::int64_t ticks, std::vector<CauseTime>& causes) : left_(ticks), causes_(causes) {}

    void spend(std::int64_t ticks, Cause cause) {
        ticks = std::clamp<std::int64_t>(ticks, 0, left_);
        if (ticks == 0) return;
        left_ -= ticks;
        causes_.push_back({std::move(cause), ticks});
    }
    void spend_all(Cause cause) { spend(left_, std::move(cause)); }

  private:
    std::int64_t left_;
    std::vector<CauseTime>& causes_;
};

std::int64_t length(const PathPiece& piece) { return piece.end.femtoseconds - piece.begin.femtoseconds; }

}  // namespace

std::string cause_text(const Cause& cause) {
    std::string text = cause.dimension.empty() ? cause.name : cause.dimension + " " + cause.name;
    if (!cause.link.empty()) text += " over " + cause.link;
    return text;
}

PathCauses::PathCauses(const Simulation& run, const LimitShares& shares)
    : run_(run), program_(run.step.program), works_(program_), shares_(shares) {}

std::vector<CauseTime> PathCauses::of(const PathPiece& piece) const {
    const Op& op = program_.ops[piece.op];
    std::vector<CauseTime> causes;
    if (op.kind == OpKind::exchange) {
        add_communication(piece, op, causes);
    } else {
        add_computation(piece, op, causes);
    }
    return causes;
}

void PathCauses::add_computation(const PathPiece& piece, const Op& op, std::vector<CauseTime>& causes) const {
    Purse purse(length(piece), causes);
    const RankId rank = program_.classes[program_.class_of(piece.op)].representative;
    const std::int64_t work = ticks(works_.of(piece.op, rank));
    purse.spend(length(piece) - work, {"interference", {}, {}});
    if (op.lane == lanes::store || op.lane == lanes::load) {
        return purse.spend_all({"copies", lanes::dimension_name(op.lane), {}});
    }
    if (program_.labels[index(op.label)] == "optimizer") return purse.spend_all({"optimizer", {}, {}});
    const auto shares = shares_.of(op.subject);
    for (std::size_t limit = 0; limit < shares.size(); ++limit) {
        purse.spend(std::llround(shares[limit] * static_cast<double>(work)),
                    {std::string(device_limits()[limit].cause), {}, {}});
    }
    purse.spend_all({"other computation", {}, {}});
}

void PathCauses::add_communication(const PathPiece& piece, const Op& op, std::vector<CauseTime>& causes) const {
    const Communication& what = program_.communications[program_.communication_of(op)];
    const std::string dimension = lanes::dimension_name(what.dimension);
    Purse purse(length(piece), causes);
    std::int64_t latency = 0;
    for (std::uint32_t leg = what.first_leg; leg < what.first_leg + what.legs; ++leg) {
        latency += ticks(program_.legs[leg].latency);
    }
    purse.spend(latency, {"latency", dimension, {}});
    for (std::uint32_t i = what.first_leg; i < what.first_leg + what.legs; ++i) {
        const Leg& leg = program_.legs[i];
        if (leg.bytes.value <= 0.0 || is_unlimited(program_.patterns[leg.pattern])) continue;
        const Bound bounding = bound(leg.pattern);
        purse.spend(ticks(leg.bytes / bounding.rate),
                    {"transfer", dimension, bounding.is_link ? run_.topology().link(bounding.link).name : "channels"});
    }
    purse.spend_all({"sharing", dimension, {}});
}

std::set<LinkClassId> PathCauses::crossed(OpId exchange) const {
    const Communication& what = program_.communications[program_.communication_of(program_.ops[exchange])];
    std::set<LinkClassId> classes;
    for (std::uint32_t leg = what.first_leg; leg < what.first_leg + what.legs; ++leg) {
        if (program_.legs[leg].bytes.value <= 0.0) continue;
        for (const LinkLoad& load : program_.patterns[program_.legs[leg].pattern].loads) {
            classes.insert(run_.topology().link_class(load.link));
        }
    }
    return classes;
}

PathCauses::Bound PathCauses::bound(PatternId pattern) const {
    const Pattern& what = program_.patterns[pattern];
    Bound bound{.rate = what.cap};
    for (const LinkLoad& load : what.loads) {
        const BytesPerSecond rate = run_.topology().link(load.link).bandwidth / load.load;
        if (rate.value < bound.rate.value) bound = {.rate = rate, .link = load.link, .is_link = true};
    }
    return bound;
}

}  // namespace weft
