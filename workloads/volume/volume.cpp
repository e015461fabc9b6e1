#include "workloads/volume/volume.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "sim/base/check.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/stage/stage_script.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

// The function of deepspeed.comm behind a call, and the size that its logger shows: the shard of a gather, the whole
// of other tensors.
std::string_view logged_name(const Call& call) {
    switch (call.op) {
        case Collective::all_gather:
            return "all_gather_into_tensor";
        case Collective::reduce_scatter:
            return "reduce_scatter_tensor";
        case Collective::all_to_all:
            return "all_to_all_single";
        case Collective::point_to_point:
            return call.direction == Direction::send ? "send" : "recv";
        default:
            return name(call.op);
    }
}

Bytes logged_size(const Call& call, std::uint32_t group_size) {
    return call.op == Collective::all_gather ? call.message / group_size : call.message;
}

// How often a script issues each of its calls: per micro-batch and once per step.
struct Count {
    std::uint64_t whole_step = 0;
    std::vector<std::uint64_t> micro_batch;

    std::uint64_t total() const { return whole_step + sum_of<std::uint64_t>(micro_batch, std::identity()); }
    bool repeats() const {
        return whole_step == 0 && !micro_batch.empty() &&
               std::ranges::all_of(micro_batch, [this](std::uint64_t n) { return n == micro_batch.front(); });
    }
};

// Calls that a table does not tell apart.
using Kind = std::tuple<std::string, std::string, std::string>;  // dimension, op, label
struct Same {
    std::string dimension, op, label, type;
    std::uint32_t group_size = 1;
    double message = 0, logged = -1;
    auto operator<=>(const Same&) const = default;
    Kind kind() const { return {dimension, op, label}; }
};
using Counts = std::map<Same, std::pair<const Call*, Count>>;

enum class View : std::uint8_t { framework, logger };

Counts counted(const Script& script, const Plan& plan, RankId rank, View view) {
    std::vector<Count> counts(script.calls().size());
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
        Count& count = counts[action.subject];
        if (action.where.micro_batch == Where::whole_step) {
            ++count.whole_step;
        } else {
            count.micro_batch.resize(plan.job.micro_batches());
            ++count.micro_batch[action.where.micro_batch];
        }
    }
    Counts result;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const Call& call = script.calls()[i];
        const bool logged = call.through == Through::deepspeed;
        if (view == View::logger && !logged) continue;
        const std::uint32_t size = group_size(call.group, plan.job.layout, rank);
        const bool as_logged = call.op == Collective::point_to_point || view == View::logger;
        auto& [known, sum] = result[{.dimension = lanes::dimension_name(call.group),
                                     .op = std::string(as_logged ? logged_name(call) : name(call.op)),
                                     .label = std::string(call.label),
                                     .type = std::string(call.type),
                                     .group_size = size,
                                     .message = call.message.value,
                                     .logged = logged ? logged_size(call, size).value : -1}];
        known = &call;
        sum.whole_step += counts[i].whole_step;
        sum.micro_batch.resize(std::max(sum.micro_batch.size(), counts[i].micro_batch.size()));
        std::ranges::transform(counts[i].micro_batch, sum.micro_batch, sum.micro_batch.begin(), std::plus{});
    }
    return result;
}

void add_row(VolumeTable& table, const Same& same, const Call& call, double calls, std::string when) {
    table.rows.push_back({.op = same.op,
                          .dimension = same.dimension,
                          .group_size = same.group_size,
                          .calls = calls,
                          .message = call.message,
                          .volume = wire_volume(call.op, call.message * calls, same.group_size),
                          .when = std::move(when),
                          .type = same.type,
                          .label = same.label,
                          .logged = same.logged});
}

// The kinds of calls that the first step issues otherwise.
std::set<Kind> differing_kinds(const Counts& steady, const Counts& first) {
    std::set<Kind> kinds;
    const auto compare = [&](const Counts& these, const Counts& those) {
        for (const auto& [same, entry] : these) {
            const auto other = those.find(same);
            const std::uint64_t calls = other == those.end() ? 0 : other->second.second.total();
            if (calls != entry.second.total()) kinds.insert(same.kind());
        }
    };
    compare(steady, first);
    compare(first, steady);
    return kinds;
}

VolumeTable volume(const Plan& plan, RankId rank, View view) {
    const std::uint32_t stage = plan.job.layout.grid().coordinate(rank, "pipeline");
    const auto count = [&](const Script& script) { return counted(script, plan, rank, view); };
    const Script start_up = start_up_script(plan, stage), steady = step_script(plan, stage, StepKind::steady),
                 first = step_script(plan, stage, StepKind::first);
    const Counts steady_counts = count(steady), first_counts = count(first);
    VolumeTable table;
    table.micro_batches = plan.job.micro_batches();
    for (const auto& [same, entry] : count(start_up)) {
        add_row(table, same, *entry.first, double(entry.second.total()), "start-up");
    }
    const std::set<Kind> differing = differing_kinds(steady_counts, first_counts);
    for (const auto& [same, entry] : first_counts) {
        if (differing.contains(same.kind())) {
            add_row(table, same, *entry.first, double(entry.second.total()), "first-step");
        }
    }
    for (const auto& [same, entry] : steady_counts) {
        const Count& calls = entry.second;
        if (calls.repeats()) {
            add_row(table, same, *entry.first, double(calls.micro_batch.front()), "micro-batch");
        } else {
            add_row(table, same, *entry.first, double(calls.total()), "step");
        }
    }
    return table;
}

// equation 1
double paper_parameters(const Job& job) {
    const Transformer& model = job.model;
    const double h = model.hidden, vocabulary = static_cast<double>(padded_vocabulary(model, 1));
    return 2 * vocabulary * h + double(job.batch.sequence) * h + model.layers * (12 * h * h + 8 * h) + 2 * h;
}

// The log of DeepSpeed's logger: calls of a script with the times of the run that blocks on each.

// Exchanges of the first rank class of a stage, in the order in which its script has their calls.
std::vector<OpId> exchanges_of(const Simulation& run, std::uint32_t stage) {
    const Program& program = run.step.program;
    const RankClass& own = program.classes[run.step.class_of_stage(stage)];
    std::vector<OpId> exchanges;
    for (OpId op{own.first_op}; index(op) < own.end_op(); op = next(op)) {
        if (program.ops[op].kind == OpKind::exchange) exchanges.push_back(op);
    }
    return exchanges;
}

// The logged calls of `script`, which `run` has simulated.
std::vector<LoggedCall> timed(const Script& script, const Simulation& run, RankId rank) {
    const Job& job = run.plan.job;
    const Library& library = run.plan.machine.library();
    const Seconds alone = library.launch + library.blocking;  // of a call in a group of one
    std::vector<std::uint32_t> sizes;
    for (const Call& call : script.calls()) sizes.push_back(group_size(call.group, job.layout, rank));
    const Program& program = run.step.program;
    const std::vector<OpId> exchanges = exchanges_of(run, job.layout.grid().coordinate(rank, "pipeline"));
    auto exchange = exchanges.begin();
    const auto next_latency = [&](const Call& call) {  // from the call to its end
        WEFT_CHECK(exchange != exchanges.end(), "a script has more calls than its program");
        const Communication& done = program.communications[program.communication_of(program.ops[*exchange])];
        WEFT_CHECK(done.op == call.op && done.message == call.message, "a program has other calls than its script");
        const Span& span = run.timeline.spans[*exchange++];
        return span.end - span.posted;
    };
    std::vector<LoggedCall> log;
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
        const Call& call = script.calls()[action.subject];
        const std::uint32_t size = sizes[action.subject];
        const Seconds latency = size == 1 ? alone : next_latency(call);
        if (call.through != Through::deepspeed) continue;
        WEFT_CHECK(action.kind == Action::Kind::call, "a logged call blocks");
        log.push_back({logged_name(call), logged_size(call, size), latency});
    }
    WEFT_CHECK(exchange == exchanges.end(), "a program has more calls than its script");
    return log;
}

// The same job with the logger switched on.
Study logging(Study study, StepKind kind) {
    WEFT_CHECK(study.job.framework->name == "deepspeed", "only DeepSpeed logs its calls");
    study.job.deepspeed.log_calls = Setting::on;
    study.job.step = kind;
    return study;
}

std::uint32_t stage_of(RankId rank, const Study& study) { return study.job.layout.grid().coordinate(rank, "pipeline"); }

std::vector<LoggedCall> logged_start_up(const Study& study, RankId rank) {
    const Study logged = logging(study, StepKind::first);
    const Simulation run = simulate_start_up(logged, make_plan(logged));
    return timed(start_up_script(run.plan, stage_of(rank, study)), run, rank);
}

}  // namespace

Bytes wire_volume(Collective op, Bytes message, std::uint32_t n) {
    // Multiplied before divided: exact for the integers that bytes are.
    const double others = n - 1.0;
    if (n == 1) return {};
    switch (op) {
        case Collective::all_reduce:
            return {2 * message.value * others / n};
        case Collective::all_gather:
        case Collective::reduce_scatter:
        case Collective::reduce:  // as the study counts it
        case Collective::all_to_all:
            return {message.value * others / n};
        case Collective::broadcast:
        case Collective::send_receive:
        case Collective::point_to_point:
            return message;
    }
    WEFT_CHECK(false, "unknown collective");
    return {};
}

// Rows of the first step and of start-up stand beside the steady step that is summed.
Bytes VolumeTable::total() const {
    Bytes sum;
    for (const VolumeRow& row : rows) {
        if (row.when == "micro-batch") sum += row.volume * micro_batches;
        if (row.when == "step") sum += row.volume;
    }
    return sum;
}

VolumeTable framework_volume(const Plan& plan, RankId rank) { return volume(plan, rank, View::framework); }
VolumeTable logger_volume(const Plan& plan, RankId rank) { return volume(plan, rank, View::logger); }

VolumeTable paper_volume(const Job& job) {
    VolumeTable table;
    const double element = element_bytes(job.precision);
    const auto add = [&](Collective op, std::string dimension, std::uint32_t n, double calls, Bytes message) {
        table.rows.push_back({.op = op == Collective::point_to_point ? "send" : std::string(name(op)),
                              .dimension = std::move(dimension),
                              .group_size = n,
                              .calls = calls,
                              .message = message,
                              .volume = wire_volume(op, message * calls, n),
                              .when = "step"});
    };
    if (const std::uint32_t d = job.layout.data; d > 1) {
        const Bytes parameters{paper_parameters(job) * element};
        if (job.zero == 0) {
            add(Collective::all_reduce, "data", d, 1, parameters);
        } else {
            add(Collective::reduce_scatter, "data", d, 1, parameters);
            add(Collective::all_gather, "data", d, job.zero == 3 ? 2 : 1, parameters);
        }
    }
    const Bytes hidden{double(job.batch.micro) * job.batch.sequence * job.model.hidden * element};
    if (const std::uint32_t t = job.layout.tensor; t > 1) {
        add(Collective::all_reduce, "tensor", t, 6.0 * job.model.layers / job.layout.pipeline + 1.0, hidden);
    }
    if (const std::uint32_t p = job.layout.pipeline; p > 1) {
        add(Collective::point_to_point, "pipeline", 2, 2.0 * (p - 1), hidden);
    }
    return table;
}

std::vector<LoggedCall> logged_step(const Study& study, RankId rank, StepKind kind) {
    const Study logged = logging(study, kind);
    const Simulation run = simulate_step(logged, make_plan(logged));
    return timed(step_script(run.plan, stage_of(rank, study), kind), run, rank);
}

// Some 50 bytes each, kept as calls and printed as lines.
static constexpr std::size_t most_logged = 10'000'000;

std::vector<LoggedCall> logged_calls(const Study& study, RankId rank, std::uint32_t steps) {
    WEFT_CHECK(steps > 0, "a log is of at least one step");
    const std::vector<LoggedCall> steady = logged_step(study, rank, StepKind::steady);
    if (steps == 1) return steady;
    if (steps > most_logged / std::max(steady.size(), std::size_t{1})) {
        throw RangeError("{} steps of {} logged calls; at most {} calls are logged", steps, steady.size(), most_logged);
    }
    std::vector<LoggedCall> log = logged_start_up(study, rank);
    const auto append = [&log](const std::vector<LoggedCall>& more) {
        log.insert(log.end(), more.begin(), more.end());
    };
    append(logged_step(study, rank, StepKind::first));
    for (std::uint32_t i = 1; i < steps; ++i) append(steady);
    return log;
}

}  // namespace weft
