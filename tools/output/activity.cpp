#include "tools/output/activity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace weft {
namespace {

using Filling = std::array<double, activities>;  // of one bin, by activity; 1: the whole bin

// Adds the part of each bin that [begin, end) covers; both in bins.
void cover(std::vector<Filling>& bins, Activity activity, double begin, double end) {
    for (auto bin = static_cast<std::size_t>(begin); bin < bins.size() && static_cast<double>(bin) < end; ++bin) {
        const auto left = static_cast<double>(bin);
        bins[bin][static_cast<std::size_t>(activity)] += std::min(end, left + 1.0) - std::max(begin, left);
    }
}

std::vector<ActivityRun> runs_of(const std::vector<Filling>& bins) {
    std::vector<ActivityRun> runs;
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        const Filling& filling = bins[bin];
        const auto main = static_cast<Activity>(std::max_element(filling.begin(), filling.end()) - filling.begin());
        double filled = 0.0;
        for (const double part : filling) filled += part;
        const long level = std::min<long>(std::lround(filled * ActivityRun::full), ActivityRun::full);
        if (level == 0) continue;
        const ActivityRun one{bin, 1, main, static_cast<std::uint8_t>(level)};
        ActivityRun* const last = runs.empty() ? nullptr : &runs.back();
        if (last && last->first + last->length == bin && last->activity == one.activity && last->level == one.level) {
            ++last->length;
        } else {
            runs.push_back(one);
        }
    }
    return runs;
}

}  // namespace

Activity activity_of(const Program& program, const Op& op) {
    if (op.kind == OpKind::exchange) return Activity::communication;
    const std::string_view label = program.labels[index(op.label)];
    if (label.starts_with("forward")) return Activity::forward;
    if (label.starts_with("backward")) {
        return label.find("weight") != std::string_view::npos ? Activity::weights : Activity::backward;
    }
    if (label.starts_with("recompute")) return Activity::recompute;
    if (label.starts_with("optimizer")) return Activity::optimizer;
    return Activity::other_compute;
}

ActivityRow activity_row(const Program& program, const Timeline& timeline, RankClassId rank_class, std::size_t bins) {
    std::vector<Filling> compute(bins), communication(bins);
    const double per_tick =
        static_cast<double>(bins) / static_cast<double>(std::max<std::int64_t>(timeline.end.femtoseconds, 1));
    const RankClass& ops = program.classes[rank_class];
    for (std::uint32_t i = ops.first_op; i < ops.first_op + ops.ops; ++i) {
        const Op& op = program.ops[OpId(i)];
        if (op.kind == OpKind::join) continue;
        const Span& span = timeline.spans[OpId(i)];
        cover(op.kind == OpKind::exchange ? communication : compute, activity_of(program, op),
              static_cast<double>(span.begin.femtoseconds) * per_tick,
              static_cast<double>(span.end.femtoseconds) * per_tick);
    }
    return {runs_of(compute), runs_of(communication)};
}

}  // namespace weft
