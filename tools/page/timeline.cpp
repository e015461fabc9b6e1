#include "tools/page/timeline.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/enumerators.hpp"
#include "sim/base/texts.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/timeline_trace.hpp"
#include "topologies/measurements/measurement.hpp"
#include "workloads/stage/pass_names.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

enum class Activity : std::uint8_t {
    forward,
    backward,
    recurrence,  // forward, in layers of a recurrent mixer
    recurrence_backward,
    weights,
    recompute,
    optimizer,
    other,
    communication,
};

// By the words of a label, `weights` where it is of their gradients alone; every exchange is communication.
Activity activity_of(const Program& program, const Op& op) {
    if (op.kind == OpKind::exchange) return Activity::communication;
    const std::string_view label = program.labels[index(op.label)];
    const bool recurs = names_recurrence(label);
    if (label.starts_with("forward")) return recurs ? Activity::recurrence : Activity::forward;
    if (label.starts_with("backward")) {
        return contains(label, "weight") ? Activity::weights
               : recurs                  ? Activity::recurrence_backward
                                         : Activity::backward;
    }
    if (label.starts_with("recompute")) return Activity::recompute;
    if (label.starts_with("optimizer")) return Activity::optimizer;
    return Activity::other;
}

// visit(op, span) for each of a rank class that begins before `until`.
template <class Visitor>
void visit_slices(const Program& program, const Timeline& timeline, RankClassId id, Instant until, Visitor visit) {
    const RankClass& rank_class = program.classes[id];
    for (OpId op{rank_class.first_op}; index(op) < rank_class.end_op(); op = next(op)) {
        const Span& span = timeline.spans[op];
        if (is_slice(program.ops[op], span) && span.begin < until) visit(program.ops[op], span);
    }
}

std::size_t slices_of(const Step& step, const Timeline& timeline, RankClassId id, Instant until) {
    std::size_t count = 0;
    visit_slices(step.program, timeline, id, until, [&](const Op&, const Span&) { ++count; });
    return count;
}

void choose_stages(const Step& step, const Timeline& timeline, const std::vector<RankClassId>& all,
                   const TimelineLimits& limits, TimelinePart& part) {
    for (const std::uint32_t stage : limits.asked) {
        WEFT_CHECK(stage < all.size(), "a page asks for a stage that there is not");
        part.classes.push_back(all[stage]);
        part.slices += slices_of(step, timeline, all[stage], part.until);
    }
    if (!limits.asked.empty()) return;
    const auto sizes =
        list_of<std::size_t>(all, [&](RankClassId id) { return slices_of(step, timeline, id, part.until); });
    std::vector<std::size_t> chosen;
    for (std::size_t count = std::min(all.size(), limits.stages); count > 0; --count) {
        chosen = equally_spaced(all.size(), count);
        part.slices = sum_of<std::size_t>(chosen, [&](std::size_t i) { return sizes[i]; });
        if (part.slices <= limits.slices || count <= 2) break;
    }
    for (const std::size_t i : chosen) part.classes.push_back(all[i]);
}

void cut_time(const Step& step, const Timeline& timeline, std::size_t most_slices, TimelinePart& part) {
    std::vector<Instant> begins;
    for (const RankClassId id : part.classes) {
        visit_slices(step.program, timeline, id, Instant::never(),
                     [&](const Op&, const Span& span) { begins.push_back(span.begin); });
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
    for (const std::size_t i : equally_spaced(candidates.size(), room)) {
        held += slices_of(step, timeline, candidates[i], part.until);
        part.further.push_back(candidates[i]);
    }
}

class TimelineJson {
  public:
    TimelineJson(const Simulation& run, const TimelinePart& part, std::span<const PathPiece> path)
        : run_(run), program_(run.step.program) {
        Json stages = Json::array();
        std::vector<RankClassId> rows = part.classes;
        rows.insert(rows.end(), part.further.begin(), part.further.end());
        std::ranges::sort(rows, {}, [&](RankClassId id) { return std::pair(run.step.stage[id], id); });
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const RankClassId id = rows[i];
            const bool is_first = i == 0 || run.step.stage[rows[i - 1]] != run.step.stage[id];
            stages.push_back(row(id, is_first, part.until));
            stages.back()["shown"] = std::ranges::find(part.classes, id) != part.classes.end();
            if (!path.empty()) stages.back()["path"] = stretches(id, is_first, rows, path);
        }
        json_ = {{"until", std::min(nanoseconds(part.until), nanoseconds(run.timeline.end))},
                 {"stages", std::move(stages)}};
        json_["labels"] = json_list<Json>(labels_.values(), [&](const auto& each) {
            return Json{program_.labels[index(each.first)], enumerator_name(each.second)};
        });
        json_["calls"] = json_list<Json>(calls_.values(), [&](CommunicationId id) {
            const Communication& call = program_.communications[id];
            return Json{name(call.op), call.group_size, std::llround(call.message.value),
                        method_text(program_.methods[call.method]), bus_factor(call.op, call.group_size)};
        });
    }

    Json take() { return std::move(json_); }

  private:
    void add(TimelineLane& lane, const Op& op, const Span& span) {
        const bool is_exchange = op.kind == OpKind::exchange;
        const std::int64_t begin = nanoseconds(span.begin);
        lane.add(begin, nanoseconds(span.end), labels_.number_of({op.label, activity_of(program_, op)}),
                 is_exchange ? calls_.number_of(program_.communication_of(op)) : -1);
        lane.micro.push_back(op.index);
        lane.layer.push_back(op.part);
        lane.wait.push_back(is_exchange ? begin - nanoseconds(span.posted) : 0);
    }

    Json row(RankClassId id, bool is_first, Instant until) {
        const RankClass& rank_class = program_.classes[id];
        std::vector<TimelineLane> lanes;
        for (LaneId lane{}; index(lane) < program_.lanes.size(); lane = next(lane)) {
            lanes.push_back({.name = program_.lanes[index(lane)],
                             .dimension = lane == lanes::compute ? "compute" : lanes::dimension_name(lane)});
        }
        visit_slices(program_, run_.timeline, id, until,
                     [&](const Op& op, const Span& span) { add(lanes[index(op.lane)], op, span); });
        std::string name = fmt::format("stage {}", run_.step.stage[id]);
        if (!is_first) name += fmt::format(", rank {}", index(rank_class.representative));
        Json json{{"name", std::move(name)}, {"rank", index(rank_class.representative)}, {"lanes", Json::array()}};
        for (const TimelineLane& lane : lanes) {
            if (!lane.gap.empty()) json["lanes"].push_back(lane.json());
        }
        return json;
    }

    // Begin and length of each, where the path stays on the class; on the first row of a stage, on any of its classes
    // that have no row of their own.
    Json stretches(RankClassId id, bool is_first, const std::vector<RankClassId>& rows,
                   std::span<const PathPiece> path) const {
        const auto belongs = [&](RankClassId other) {
            return other == id || (is_first && run_.step.stage[other] == run_.step.stage[id] &&
                                   std::ranges::find(rows, other) == rows.end());
        };
        std::vector<std::int64_t> at;
        bool was_here = false;
        for (const PathPiece& piece : path) {
            const bool is_here = belongs(program_.class_of(piece.op));
            if (is_here && was_here) at.back() = nanoseconds(piece.end) - at[at.size() - 2];
            if (is_here && !was_here) {
                at.push_back(nanoseconds(piece.begin));
                at.push_back(nanoseconds(piece.end) - nanoseconds(piece.begin));
            }
            was_here = is_here;
        }
        return at;
    }

    const Simulation& run_;
    const Program& program_;
    Numbered<std::pair<LabelId, Activity>> labels_;
    Numbered<CommunicationId> calls_;
    Json json_;
};

// Classes in the order of their greatest utilization; four digits of a share are more than a chart shows.
Json links_json(const Simulation& run) {
    struct Series {
        std::vector<std::int64_t> at;
        std::vector<double> share;
        double most = 0.0;
    };
    std::map<LinkClassId, Series> classes;
    for (const UtilizationSample& sample : run.timeline.samples) {
        Series& series = classes[sample.link_class];
        const double share = std::round(double{sample.mean} * 1e4) / 1e4;
        series.at.push_back(nanoseconds(sample.at));
        series.share.push_back(share);
        series.most = std::max(series.most, share);
    }
    std::vector<std::pair<LinkClassId, const Series*>> order;
    for (const auto& [id, series] : classes) {
        if (series.most > 0.0) order.emplace_back(id, &series);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& each) { return each.second->most; });
    return json_list<Json>(order, [&](const auto& each) {
        const auto& [id, series] = each;
        return Json{{"name", run.topology().classes[id].name}, {"at", series->at}, {"share", series->share}};
    });
}

}  // namespace

std::vector<std::size_t> equally_spaced(std::size_t all, std::size_t count) {
    if (count == 1) return {0};
    return list_of<std::size_t>(numbers_below<std::size_t>(count),
                                [&](std::size_t i) { return i * (all - 1) / (count - 1); });
}

bool is_slice(const Op& op, const Span& span) {
    return op.kind != OpKind::join && nanoseconds(span.begin) != nanoseconds(span.end);
}

TimelinePart timeline_part(const Step& step, const Timeline& timeline, const TimelineLimits& limits) {
    const std::vector<RankClassId> first = first_classes(step);
    const auto is_other = [&](RankClassId id) { return std::ranges::find(first, id) == first.end(); };
    const auto others = list_of_those<RankClassId>(numbers_below<RankClassId>(step.stage.size()), is_other);
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

Json timeline_data(const Simulation& run, const TimelinePart& part, std::span<const PathPiece> path) {
    Json json = TimelineJson(run, part, path).take();
    json["links"] = links_json(run);
    return json;
}

void TimelineLane::add(std::int64_t from, std::int64_t to, std::int64_t what, std::int64_t of_call) {
    from = std::max(from, end);
    to = std::max(from, to);
    gap.push_back(from - std::exchange(end, to));
    length.push_back(to - from);
    label.push_back(what);
    call.push_back(of_call);
}

Json TimelineLane::json() const {
    Json json{{"name", name}, {"dimension", dimension}, {"gap", gap}, {"length", length}, {"label", label}};
    if (!micro.empty()) json["micro"] = micro;
    if (!layer.empty()) json["layer"] = layer;
    if (std::ranges::all_of(call, [](std::int64_t each) { return each < 0; })) return json;
    json["call"] = call;
    if (!wait.empty()) json["wait"] = wait;
    return json;
}

TimelineLane& free_lane(std::vector<TimelineLane>& lanes, const std::string& name, std::int64_t from) {
    const auto free = std::ranges::find_if(lanes, [&](const TimelineLane& lane) {
        return lane.name == name && lane.end <= std::max<std::int64_t>(from, 0);
    });
    return free != lanes.end() ? *free : lanes.emplace_back(TimelineLane{.name = name});
}

}  // namespace weft
