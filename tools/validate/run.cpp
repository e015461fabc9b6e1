#include "tools/validate/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/parallel.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

bool is_collective(std::string_view quantity) { return quantity == collective_quantity; }

template <class Kind>
bool measures(const ValidationRow& row, Kind kind) {
    return std::ranges::any_of(row.measured, kind, &PublishedValue::quantity);
}

ConfigError plain_error(std::string message) {
    return ConfigError({{.file = {}, .key = {}, .message = std::move(message)}});
}

decltype(ValidationCase::subject) read_subject(const ValidationSet& set, const ValidationRow& row) {
    if (measures(row, is_of_run)) {
        if (!std::ranges::all_of(row.measured, is_of_run, &PublishedValue::quantity)) {
            throw plain_error("a run of many steps has no measurement of one");
        }
        return read_run(row_document(set, row));
    }
    if (!measures(row, is_collective)) return read_study(row_document(set, row));
    if (row.measured.size() > 1) {
        throw plain_error("a collective on its own has no other measurement");
    }
    return read_collective(row_document(set, row));
}

void add_rows(const ValidationCase& one, const ValidationRow& row, const Prediction& prediction,
              std::vector<ValidatedRow>& rows) {
    for (std::size_t m = 0; m < row.measured.size(); ++m) {
        ValidatedRow validated{.set = one.set,
                               .row = one.row,
                               .quantity = row.measured[m].quantity,
                               .measured = row.measured[m].value,
                               .predicted = prediction.values[m],
                               .fits = prediction.fits || of_one_layer(row.measured[m].quantity),
                               .job = prediction.job};
        if (validated.quantity == "step_s") {
            const double tera = prediction.step_flops.value / prediction.ranks / 1e12;
            validated.measured_tflops = tera / validated.measured;
            validated.predicted_tflops = tera / validated.predicted;
        }
        rows.push_back(std::move(validated));
    }
}

constexpr std::uint32_t long_context = 32768;  // tokens of a sequence

std::string precision_class(Precision precision) {
    return precision == Precision::fp32  ? "32 bit"
           : precision == Precision::fp8 ? "8 bit"
           : precision == Precision::fp4 ? "4 bit"
                                         : "16 bit";
}

std::string sharding_class(const Job& job) {
    const StateShares shares = job.framework->shares(job);
    if (shares.parameters > 1) return "parameters sharded";
    return shares.gradients > 1 || shares.optimizer > 1 ? "optimizer sharded" : "nothing sharded";
}

bool is_backward(std::string_view label) { return label.starts_with("backward") || label.starts_with("recompute"); }

bool is_broadcast(const Program& program, const Op& op) {
    return program.communications[program.communication_of(op)].op == Collective::broadcast;
}

// What a layer itself does: neither the optimizer, nor the embedding and the broadcasts of a batch, which have the
// place of the layer behind them.
bool belongs_to_layers(const Program& program, const Op& op) {
    const std::string_view label = program.labels[index(op.label)];
    if (label.find("embedding") != label.npos) return false;
    if (op.kind == OpKind::compute) return label.starts_with("forward") || is_backward(label);
    return op.kind == OpKind::exchange && lanes::is_inside_layers(op.lane) && !is_broadcast(program, op);
}

// When the first micro-batch turns round: everything before is its forward pass.
Instant turn(const Program& program, const Timeline& timeline, const RankClass& stage) {
    for (OpId id{stage.first_op}; index(id) < stage.end_op(); id = next(id)) {
        const Op& op = program.ops[id];
        if (op.kind == OpKind::compute && op.index == 0 && is_backward(program.labels[index(op.label)])) {
            return timeline.spans[id].begin;
        }
    }
    throw RangeError("the step has no backward pass");
}

// Of the operations of a pass, from the first begin to the last end; of none the end comes first.
struct PassExtent {
    Instant begin = Instant::never(), end{};

    void add(const Span& span) { begin = std::min(begin, span.begin), end = std::max(end, span.end); }
    Seconds length() const {
        if (begin > end) throw RangeError("the step has no such pass through a layer");
        return since_start(end) - since_start(begin);
    }
};

// Short names of metrics.
constexpr std::array metric_names = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"step_s", "step.time_s"},
    {"tokens_per_s", "throughput.tokens_per_s"},
    {"peak_bytes", "memory.peak_bytes"},
    {"allocated_bytes", "memory.allocated_bytes"},
});
constexpr std::array other_names =
    std::to_array<std::string_view>({"layer_forward_s", "layer_backward_s", collective_quantity, "model_tflops",
                                     "megatron_tflops", "megatron_core_tflops", "neox_tflops"});
constexpr std::string_view communication_prefix = "communication.", call_prefix = "call.", seconds_suffix = "_s",
                           tflops_suffix = "_tflops";

bool is_communication(std::string_view quantity) {
    return (quantity.starts_with(communication_prefix) || quantity.starts_with(call_prefix)) &&
           quantity.ends_with(seconds_suffix);
}

std::optional<FlopConvention> convention_of(std::string_view quantity) {
    if (!quantity.ends_with(tflops_suffix)) return std::nullopt;
    return enumerator_called<FlopConvention>(quantity.substr(0, quantity.size() - tflops_suffix.size()));
}

// "communication.tensor_s" and the like: time in transfer, of the step or of one call.
double communication_time(std::string_view quantity, const Report& report) {
    const bool of_call = quantity.starts_with(call_prefix);
    std::string_view what = quantity.substr((of_call ? call_prefix : communication_prefix).size());
    what.remove_suffix(seconds_suffix.size());
    const std::size_t dot = what.find('.');
    Seconds time;
    double calls = 0;
    for (const CommunicationReport& row : report.communication) {
        if (boost::replace_all_copy(row.dimension, " ", "_") != what.substr(0, dot)) continue;
        if (dot != what.npos && row.op != what.substr(dot + 1)) continue;
        time += row.time;
        calls += row.calls;
    }
    if (calls == 0) throw RangeError("the step has no call for {}", quantity);
    return of_call ? time.value / calls : time.value;
}

// Of a simulated step. Throws RangeError if the step has nothing of the kind (a dimension that it does not use, say).
double predicted_quantity(std::string_view quantity, const Simulation& run, const Report& report) {
    if (quantity == "layer_forward_s") return layer_time(run).forward.value;
    if (quantity == "layer_backward_s") return layer_time(run).backward.value;
    if (is_communication(quantity)) return communication_time(quantity, report);
    if (const auto convention = convention_of(quantity)) {
        return flop_rate(run.plan.job, *convention, since_start(run.timeline.end)).value / 1e12;
    }
    const auto named = std::ranges::find(metric_names, quantity, &decltype(metric_names)::value_type::first);
    const std::string_view key = named == metric_names.end() ? quantity : named->second;
    if (!report.has(key)) throw RangeError("a step has no metric {}", key);
    return report.metric(key);
}

Prediction predict_step(const Study& study, const ValidationRow& row, FlopConvention convention) {
    const Simulation run = simulate_step(study, make_plan(study));
    const Report report = make_report(run);
    Prediction prediction{.values = {},
                          .fits = run.plan.fits(),
                          .step_flops = step_flops(study.job, convention),
                          .ranks = static_cast<double>(study.job.layout.ranks()),
                          .job = job_traits(run.plan)};
    for (const PublishedValue& one : row.measured) {
        prediction.values.push_back(predicted_quantity(one.quantity, run, report));
    }
    return prediction;
}

}  // namespace

JobTraits job_traits(const Plan& plan) {
    const Job& job = plan.job;
    const bool is_long = job.layout.context > 1 || job.batch.sequence >= long_context;
    return {.values = {plan.device.die, std::string(job.framework->name),
                       job.model.encoder.layers > 0  ? "an encoder of images"
                       : job.model.experts.count > 0 ? "experts"
                                                     : "dense",
                       plan.host_bound ? "layers at the host's pace" : "layers at the device's pace",
                       precision_class(job.precision), sharding_class(job),
                       is_long ? "long or split context" : "short context"},
            .ranks = static_cast<double>(job.layout.ranks())};
}

std::vector<ValidationCase> validation_cases(std::span<const ValidationSet> sets, std::string_view filter) {
    std::vector<ValidationCase> cases;
    RowErrors errors;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        for (std::size_t r = 0; r < sets[s].rows.size(); ++r) {
            const ValidationRow& row = sets[s].rows[r];
            if (row.name.find(filter) == row.name.npos) continue;
            try {
                cases.push_back({s, r, read_subject(sets[s], row)});
            } catch (const ConfigError& error) {
                errors.add(sets[s], row, error);
            }
        }
    }
    errors.check();
    return cases;
}

Prediction predict(const ValidationCase& one, const ValidationRow& row, FlopConvention convention) {
    if (const Study* const study = std::get_if<Study>(&one.subject)) return predict_step(*study, row, convention);
    if (const RunRequest* const run = std::get_if<RunRequest>(&one.subject)) {
        return {.values = predicted_run(*run, row.measured)};
    }
    const CollectiveRequest& call = std::get<CollectiveRequest>(one.subject);
    return {.values = {collective_time(call).value}, .job = call_traits(call, call.messages.front())};
}

std::vector<ValidatedRow> run_validation(std::span<const ValidationSet> sets, const ValidationOptions& options) {
    std::vector<ValidationCase> cases = validation_cases(sets, options.filter);
    for (ValidationCase& one : cases) {
        Study* const study = std::get_if<Study>(&one.subject);
        if (study == nullptr) continue;
        const auto same = std::ranges::find(options.devices, study->device.name, &Device::name);
        if (same != options.devices.end()) study->device = *same;
    }
    std::vector<std::optional<Prediction>> predictions(cases.size());
    std::vector<std::optional<ConfigError>> failures(cases.size());
    const auto work = [&](std::size_t i) {
        const ValidationRow& row = sets[cases[i].set].rows[cases[i].row];
        try {
            predictions[i] = predict(cases[i], row, options.convention);
        } catch (const ConfigError& error) {
            failures[i] = error;
        } catch (const RangeError& error) {
            failures[i] = plain_error(error.what());
        }
    };
    for_each_in_parallel(cases.size(), options.threads, work, options.progress);
    std::vector<ValidatedRow> rows;
    RowErrors errors;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const ValidationSet& set = sets[cases[i].set];
        const ValidationRow& row = set.rows[cases[i].row];
        if (failures[i]) {
            errors.add(set, row, *failures[i]);
        } else {
            add_rows(cases[i], row, *predictions[i], rows);
        }
    }
    errors.check();
    return rows;
}

LayerTime layer_time(const Simulation& run) {
    const Program& program = run.step.program;
    const RankClassId first_class{};
    const RankClass& stage = program.classes[first_class];
    const Chunk& chunk = run.plan.stages[run.step.stage[first_class]].chunks.front();
    const std::uint32_t layer = chunk.first_layer + (chunk.layers > 1 ? 1 : 0);
    const Instant turned = turn(program, run.timeline, stage);
    PassExtent forward, backward;
    for (OpId id{stage.first_op}; index(id) < stage.end_op(); id = next(id)) {
        const Op& op = program.ops[id];
        if (op.index != 0 || op.part != layer || !belongs_to_layers(program, op)) continue;
        const Span& span = run.timeline.spans[id];
        (span.begin < turned ? forward : backward).add(span);
    }
    return {forward.length(), backward.length()};
}

std::string quantity_obstacle(std::string_view quantity) {
    auto known = list_of<std::string>(metric_names, [](const auto& each) { return each.first; });
    known.insert(known.end(), other_names.begin(), other_names.end());
    if (std::ranges::find(known, quantity) != known.end() || quantity.find('.') != quantity.npos) return "";
    return fmt::format("measured.{}: unknown quantity{} (known: {}, and the metrics of weft simulate --json)", quantity,
                       suggestion(quantity, known), fmt::join(known, ", "));
}

std::string_view quantity_unit(std::string_view quantity) {
    if (quantity.ends_with("tokens_per_s")) return "tokens/s";
    if (quantity.ends_with("_tflops") || quantity.find("_tflops_") != quantity.npos) return "TFLOP/s";
    if (quantity.ends_with("_s")) return "s";
    return quantity.ends_with("_bytes") ? "B" : "";
}

bool of_one_layer(std::string_view quantity) { return quantity.starts_with("layer_"); }

}  // namespace weft
