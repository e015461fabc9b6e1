#include "workloads/explain/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/engine/timeline.hpp"
#include "sim/io/units.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

constexpr LaneId of_layers{lanes::compute};
constexpr double worth_a_word = 0.05;  // of a stretch's time

// Tensor, context and expert ranks meet inside layers; stages hand over between them.
bool is_of_layers(LaneId dimension) {
    if (lanes::dimension_name(dimension) == "pipeline") return true;
    return lanes::is_inside_layers(dimension) && lanes::groups(dimension) != RankGroups({"tensor", "context"});
}

// Pieces that follow one another on one rank class and belong to the layers (computation, the calls of tensor, context
// and expert ranks between, and what stages hand over), to the optimizer, or to one other dimension are one stretch.
//
class Teller {
  public:
    Teller(const Simulation& run, std::span<const PathPiece> path, const PathCauses& causes)
        : run_(run), program_(run.step.program), path_(path), causes_(causes) {}

    std::vector<PathStretch> tell_longest(std::size_t most) const {
        std::vector<Stretch> stretches;
        for (std::size_t first = 0; first < path_.size();) {
            const RankClassId rank_class = program_.class_of(path_[first].op);
            const Kind kind = kind_of(path_[first]);
            std::size_t end = first + 1;
            while (end < path_.size() && program_.class_of(path_[end].op) == rank_class &&
                   kind_of(path_[end]) == kind) {
                ++end;
            }
            stretches.push_back({rank_class, kind, path_.subspan(first, end - first)});
            first = end;
        }
        std::ranges::stable_sort(stretches, std::ranges::greater{}, &Stretch::ticks);
        stretches.resize(std::min(stretches.size(), most));
        return list_of<PathStretch>(stretches, [&](const Stretch& stretch) { return told(stretch); });
    }

  private:
    // What a piece belongs to: a dimension, the layers, or on the compute lane the optimizer.
    struct Kind {
        LaneId dimension{};
        bool optimizer = false;
        bool operator==(const Kind&) const = default;
    };

    struct Stretch {
        RankClassId rank_class{};
        Kind kind;
        std::span<const PathPiece> pieces;

        std::int64_t ticks() const { return pieces.back().end.femtoseconds - pieces.front().begin.femtoseconds; }
    };

    const Communication& communication(const Op& exchange) const {
        return program_.communications[program_.communication_of(exchange)];
    }

    Kind kind_of(const PathPiece& piece) const {
        const Op& op = program_.ops[piece.op];
        if (op.kind != OpKind::exchange) return {of_layers, program_.labels[index(op.label)] == "optimizer"};
        const LaneId dimension = communication(op).dimension;
        return {is_of_layers(dimension) ? of_layers : dimension, false};
    }

    PathStretch told(const Stretch& stretch) const {
        const auto& [id, kind, pieces] = stretch;
        const RankClass& rank_class = program_.classes[id];
        PathStretch told{.text = {},
                         .rank_class = rank_class.name,
                         .rank = rank_class.representative,
                         .stage = run_.step.stage[id],
                         .begin = pieces.front().begin,
                         .end = pieces.back().end,
                         .cause = {}};
        std::map<Cause, std::int64_t> sums;
        for (const PathPiece& piece : pieces) {
            for (CauseTime& part : causes_.of(piece)) sums[std::move(part.cause)] += part.ticks;
        }
        std::vector<std::pair<Cause, std::int64_t>> parts(sums.begin(), sums.end());
        std::ranges::stable_sort(parts, std::ranges::greater{}, &std::pair<Cause, std::int64_t>::second);
        told.cause = parts.front().first;
        const std::string subject = kind.optimizer                ? "updates the parameters"
                                    : kind.dimension == of_layers ? work_text(pieces)
                                                                  : calls_text(pieces);
        told.text = fmt::format("{} {}: {}", rank_class.name, subject, parts_text(parts, told));
        if (const std::string others = sharers(pieces); !others.empty()) told.text += ", shared with " + others;
        return told;
    }

    // "computes forward and backward of micro-batches 3 to 17"
    std::string work_text(std::span<const PathPiece> pieces) const {
        std::set<std::string> words;
        std::uint32_t first = 0xffffffff, last = 0;
        for (const PathPiece& piece : pieces) {
            const Op& op = program_.ops[piece.op];
            if (op.kind != OpKind::compute || op.lane != lanes::compute) continue;
            const std::string& label = program_.labels[index(op.label)];
            words.insert(label.substr(0, label.find(' ')));
            first = std::min(first, op.index);
            last = std::max(last, op.index);
        }
        if (words.empty()) return "waits for calls of layers";
        return first == last
                   ? fmt::format("computes {} of micro-batch {}", fmt::join(words, ", "), first)
                   : fmt::format("computes {} of micro-batches {} to {}", fmt::join(words, ", "), first, last);
    }

    // "waits for 12 reduce-scatter gradients (data, 3.2 GB)"
    std::string calls_text(std::span<const PathPiece> pieces) const {
        std::map<std::string, std::size_t> labels;
        Bytes bytes;
        for (const PathPiece& piece : pieces) {
            const Op& op = program_.ops[piece.op];
            ++labels[program_.labels[index(op.label)]];
            bytes += communication(op).message;
        }
        std::vector<std::string> texts;
        for (const auto& [label, times] : labels) {
            texts.push_back(times == 1 ? label : fmt::format("{} x {}", times, label));
        }
        const LaneId dimension = communication(program_.ops[pieces.front().op]).dimension;
        return fmt::format("waits for {} ({}, {})", fmt::join(texts, ", "), lanes::dimension_name(dimension),
                           to_text(bytes));
    }

    static std::string parts_text(std::span<const std::pair<Cause, std::int64_t>> parts, const PathStretch& of) {
        const double whole = (of.end - of.begin).value;
        std::string text;
        for (const auto& [cause, ticks] : parts) {
            const Seconds time = since_start({ticks});
            if (time.value < worth_a_word * whole && !text.empty()) break;
            if (!text.empty()) text += ", ";
            text += fmt::format("{} {}", to_text(time), cause_text(cause));
        }
        return text;
    }

    // The dimensions of other exchanges that move on the links that bound those of a stretch, at the same time.
    std::string sharers(std::span<const PathPiece> pieces) const {
        const PathPiece* worst = nullptr;
        std::int64_t most = 0, whole = 0;
        for (const PathPiece& piece : pieces) {
            whole += piece.end.femtoseconds - piece.begin.femtoseconds;
            if (program_.ops[piece.op].kind != OpKind::exchange) continue;
            for (const CauseTime& part : causes_.of(piece)) {
                if (part.cause.name != "sharing" || part.ticks <= most) continue;
                most = part.ticks;
                worst = &piece;
            }
        }
        if (worst == nullptr || static_cast<double>(most) < 0.01 * static_cast<double>(whole)) return {};
        std::set<LinkId> links;
        const Communication& own = communication(program_.ops[worst->op]);
        for (const Leg& leg : program_.legs_of(own)) {
            const PathCauses::Bound bound = causes_.bound(leg.pattern);
            if (bound.is_link) links.insert(bound.link);
        }
        std::map<std::string, std::set<std::uint32_t>> found;  // stages, by dimension
        for (OpId op{}; op != program_.ops.end_id(); op = next(op)) {
            const Op& other = program_.ops[op];
            if (other.kind != OpKind::exchange || other.subject == program_.ops[worst->op].subject) continue;
            const Span& span = run_.timeline.spans[op];
            if (span.end <= worst->begin || span.begin >= worst->end) continue;
            const Communication& what = communication(other);
            if (!crosses(what, links)) continue;
            found[lanes::dimension_name(what.dimension)].insert(run_.step.stage[program_.class_of(op)]);
        }
        std::vector<std::string> texts;
        for (const auto& [dimension, stages] : found) {
            texts.push_back(stages.size() == 1 ? fmt::format("{} calls of stage {}", dimension, *stages.begin())
                                               : fmt::format("{} calls of {} stages", dimension, stages.size()));
        }
        return fmt::format("{}", fmt::join(texts, " and "));
    }

    bool crosses(const Communication& what, const std::set<LinkId>& links) const {
        return std::ranges::any_of(program_.legs_of(what), [&](const Leg& leg) {
            return leg.bytes.value > 0.0 &&
                   std::ranges::any_of(program_.patterns[leg.pattern].loads,
                                       [&](const LinkLoad& load) { return links.contains(load.link); });
        });
    }

    const Simulation& run_;
    const Program& program_;
    std::span<const PathPiece> path_;
    const PathCauses& causes_;
};

// The stage on which a path spends the most time; of equals the first.
std::uint32_t main_stage(const Simulation& run, std::span<const PathPiece> path) {
    std::vector<std::int64_t> ticks(run.plan.stages.size(), 0);
    for (const PathPiece& piece : path) {
        ticks[run.step.stage[run.step.program.class_of(piece.op)]] += piece.end.femtoseconds - piece.begin.femtoseconds;
    }
    return static_cast<std::uint32_t>(std::ranges::max_element(ticks) - ticks.begin());
}

std::vector<Slack> slack_of_calls(const Simulation& run, const CriticalPath& path) {
    struct Calls {
        std::vector<std::int64_t> slack;
        std::int64_t transfer = 0;
    };
    const Program& program = run.step.program;
    const std::vector<std::int64_t> slack = path.slack();
    std::map<std::pair<std::string, std::string>, Calls> of;
    std::map<CommunicationId, Calls*> known;
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        if (program.ops[op].kind != OpKind::exchange || slack[index(op)] == 0) continue;
        const CommunicationId id = program.communication_of(program.ops[op]);
        Calls*& calls = known[id];
        if (calls == nullptr) {
            const Communication& what = program.communications[id];
            calls = &of[{lanes::dimension_name(what.dimension), lanes::operation_name(what.op, program.ops[op].lane)}];
        }
        const Span& span = run.timeline.spans[op];
        calls->slack.push_back(slack[index(op)]);
        calls->transfer += span.end.femtoseconds - span.begin.femtoseconds;
    }
    std::vector<Slack> rows;
    for (auto& [key, calls] : of) {
        const auto middle = calls.slack.begin() + static_cast<std::ptrdiff_t>(calls.slack.size() / 2);
        std::ranges::nth_element(calls.slack, middle);
        const std::int64_t least = *std::min_element(calls.slack.begin(), middle + 1);
        rows.push_back({.dimension = key.first,
                        .op = key.second,
                        .calls = calls.slack.size(),
                        .transfer = since_start({calls.transfer}),
                        .least = since_start({least}),
                        .median = since_start({*middle})});
    }
    std::ranges::stable_sort(rows, {}, [](const Slack& row) { return row.median.value; });
    return rows;
}

}  // namespace

std::int64_t Explanation::elsewhere() const { return sum_of<std::int64_t>(causes, &ExplainedCause::elsewhere); }

ExplainedStep simulate_to_explain(const Study& study, SimulationOptions options,
                                  std::unique_ptr<PreparedTopology> prepared) {
    options.kept = Kept::sums;
    ExplainedStep step{.run = simulate_step(make_plan(study), options, std::move(prepared)), .folded = {}};
    step.folded = step.run.step;
    step.run.timeline = unfold(step.folded.program, std::move(step.run.timeline));
    step.run.step.program = unfold(step.folded.program);
    step.run.options.kept = Kept::ops;
    return step;
}

Explanation explain(const Study& study, const ExplainedStep& step) {
    const Simulation& run = step.run;
    const PathCauses causes(study, run);
    const CriticalPath path(run.step.program, run.timeline);
    constexpr std::size_t most_stretches = 10;

    Explanation found;
    found.end = run.timeline.end;
    found.path = path.pieces();
    found.main_stage = main_stage(run, found.path);
    found.shared = Table<LinkClassId, std::int64_t>(run.topology().classes.size(), 0);
    std::map<Cause, ExplainedCause> sums;
    for (const PathPiece& piece : found.path) {
        const bool elsewhere = run.step.stage[run.step.program.class_of(piece.op)] != found.main_stage;
        for (const CauseTime& part : causes.of(piece)) {
            ExplainedCause& sum = sums[part.cause];
            sum.ticks += part.ticks;
            if (elsewhere) sum.elsewhere += part.ticks;
            if (part.cause.name != "sharing") continue;
            for (const LinkClassId crossed : causes.crossed(piece.op)) found.shared[crossed] += part.ticks;
        }
    }
    for (auto& [cause, sum] : sums) {
        sum.cause = cause;
        found.causes.push_back(sum);
    }
    std::ranges::stable_sort(found.causes, std::ranges::greater{}, &ExplainedCause::ticks);
    found.stretches = Teller(run, found.path, causes).tell_longest(most_stretches);
    found.slack = slack_of_calls(run, path);
    found.rooflines = {.stage = found.main_stage,
                       .device = device_roofline(run.plan, found.main_stage),
                       .fabric = fabric_roofline(run, causes, found.main_stage),
                       .kinds = kinds_of_layers(run.plan, found.main_stage)};
    return found;
}

}  // namespace weft
