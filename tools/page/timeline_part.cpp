#include "tools/page/timeline_part.hpp"

#include <algorithm>
#include <cstdint>

#include "sim/base/check.hpp"
#include "tools/output/trace_time.hpp"

namespace weft {
namespace {

// The first class of each stage, by stage.
std::vector<RankClassId> first_classes(const Step& step) {
    std::vector<RankClassId> classes;
    std::vector<bool> seen;
    for (RankClassId id{}; id != step.stage.end_id(); id = next(id)) {
        const std::uint32_t stage = step.stage[id];
        if (stage >= seen.size()) seen.resize(stage + 1, false);
        if (!seen[stage]) classes.push_back(id);
        seen[stage] = true;
    }
    std::ranges::sort(classes, {}, [&](RankClassId id) { return step.stage[id]; });
    return classes;
}

// Those that are not among the first of their stages.
std::vector<RankClassId> other_classes(const Step& step, const std::vector<RankClassId>& first) {
    std::vector<RankClassId> others;
    for (RankClassId id{}; id != step.stage.end_id(); id = next(id)) {
        if (std::ranges::find(first, id) == first.end()) others.push_back(id);
    }
    return others;
}

template <class Visitor>
void visit_slices(const Program& program, const Timeline& timeline, RankClassId id, const Visitor& visit) {
    const RankClass& rank_class = program.classes[id];
    for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
        if (is_slice(program.ops[OpId{i}], timeline.spans[OpId{i}])) visit(timeline.spans[OpId{i}]);
    }
}

std::size_t slices_of(const Step& step, const Timeline& timeline, RankClassId id, Instant until) {
    std::size_t count = 0;
    visit_slices(step.program, timeline, id, [&](const Span& span) { count += span.begin < until ? 1 : 0; });
    return count;
}

// `count` of them at equal distances, ends included.
std::vector<std::size_t> evenly_chosen(std::size_t all, std::size_t count) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(count == 1 ? 0 : i * (all - 1) / (count - 1));
    return chosen;
}

void choose_stages(const Step& step, const Timeline& timeline, const std::vector<RankClassId>& all,
                   const TimelineLimits& limits, TimelinePart& part) {
    for (const std::uint32_t stage : limits.asked) {
        WEFT_CHECK(stage < all.size(), "a page asks for a stage that there is not");
        part.classes.push_back(all[stage]);
        part.slices += slices_of(step, timeline, all[stage], part.until);
    }
    if (!limits.asked.empty()) return;
    std::vector<std::size_t> sizes;
    for (const RankClassId id : all) sizes.push_back(slices_of(step, timeline, id, part.until));
    std::vector<std::size_t> chosen;
    for (std::size_t count = std::min(all.size(), limits.stages); count > 0; --count) {
        chosen = evenly_chosen(all.size(), count);
        part.slices = 0;
        for (const std::size_t i : chosen) part.slices += sizes[i];
        if (part.slices <= limits.slices || count <= 2) break;
    }
    for (const std::size_t i : chosen) part.classes.push_back(all[i]);
}

void cut_time(const Step& step, const Timeline& timeline, std::size_t most_slices, TimelinePart& part) {
    std::vector<Instant> begins;
    for (const RankClassId id : part.classes) {
        visit_slices(step.program, timeline, id, [&](const Span& span) { begins.push_back(span.begin); });
    }
    std::ranges::nth_element(begins, begins.begin() + static_cast<std::ptrdiff_t>(most_slices));
    part.until = begins[most_slices];
    part.left_out = part.slices;
    part.slices =
        static_cast<std::size_t>(std::ranges::count_if(begins, [&](Instant begin) { return begin < part.until; }));
    part.left_out -= part.slices;
}

// As many of the candidates as there is room for, if all were as long as the longest.
void add_further(const Step& step, const Timeline& timeline, std::vector<RankClassId> candidates,
                 const TimelineLimits& limits, std::size_t& held, TimelinePart& part) {
    std::erase_if(candidates,
                  [&](RankClassId id) { return std::ranges::find(part.classes, id) != part.classes.end(); });
    std::size_t longest = 1;
    for (const RankClassId id : candidates) longest = std::max(longest, slices_of(step, timeline, id, part.until));
    const std::size_t rows = part.classes.size() + part.further.size();
    const std::size_t room = std::min({candidates.size(), (limits.held - std::min(held, limits.held)) / longest,
                                       limits.rows - std::min(rows, limits.rows)});
    for (const std::size_t i : evenly_chosen(candidates.size(), room)) {
        held += slices_of(step, timeline, candidates[i], part.until);
        part.further.push_back(candidates[i]);
    }
}

}  // namespace

bool is_slice(const Op& op, const Span& span) {
    return op.kind != OpKind::join && nanoseconds(span.begin) != nanoseconds(span.end);
}

TimelinePart timeline_part(const Step& step, const Timeline& timeline, const TimelineLimits& limits) {
    const std::vector<RankClassId> first = first_classes(step), others = other_classes(step, first);
    TimelinePart part;
    part.stages = first.size();
    part.rank_classes = first.size() + others.size();
    part.until = timeline.end + Seconds{1e-9};
    choose_stages(step, timeline, first, limits, part);
    if (part.slices > limits.slices) cut_time(step, timeline, limits.slices, part);
    std::size_t held = part.slices;
    add_further(step, timeline, first, limits, held, part);
    add_further(step, timeline, others, limits, held, part);
    std::ranges::sort(part.further);
    return part;
}

}  // namespace weft
