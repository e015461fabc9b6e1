#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"
#include "tools/digest.hpp"
#include "tools/library/internal.hpp"
#include "tools/output/comparison_text.hpp"
#include "tools/output/job_json.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/timeline_trace.hpp"
#include "tools/page/pages.hpp"
#include "tools/version.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/recorded/step_comparison.hpp"

namespace weft::library {

JobRecord SimulatedStep::State::record() const { return {.overrides = overrides, .digest = input_digest(document)}; }

JobInput SimulatedStep::State::input() const {
    const std::filesystem::path path(document.name());
    std::string command = fmt::format("weft simulate {}", path.string());
    for (const std::string& each : overrides) command += fmt::format(" --set '{}'", each);
    return {.command = std::move(command), .text = document.text(), .folder = path.parent_path()};
}

Simulation SimulatedStep::State::again(Recording recording) const {
    if (!wall) throw std::logic_error("the job does not fit in memory and was not simulated");
    SimulationOptions whole = options;
    whole.kept = Kept::ops;
    whole.recording = recording;
    return simulate_step(study, plan, whole);
}

SimulatedStep::SimulatedStep(std::shared_ptr<const State> state) : state_(std::move(state)) {}

bool SimulatedStep::fits() const { return state_->plan.fits(); }
bool SimulatedStep::is_simulated() const { return state_->wall.has_value(); }

double SimulatedStep::metric(std::string_view key) const {
    if (!state_->report.has(key)) throw std::out_of_range(fmt::format("a step has no metric \"{}\"", key));
    return state_->report.metric(key);
}

std::vector<std::string> SimulatedStep::metrics() const {
    return list_of<std::string>(state_->report.metrics, &Metric::key);
}

std::string SimulatedStep::simulate_json() const {
    const State& of = *state_;
    const Validity validity = validity_of(of.plan);
    if (!of.wall) return planned_json(of.report, of.plan, of.record(), validity);
    return report_json(of.report, of.plan, of.record(), validity, *of.wall);
}

std::string SimulatedStep::text() const { return report_text(state_->report); }

std::string SimulatedStep::compare_json(const std::vector<std::string>& traces) const {
    const Simulation run = state_->again(Recording::spans);
    return told([&] {
        return step_comparison_json(list_of<StepComparison>(
            traces, [&](const std::string& trace) { return compare_step(read_kineto(trace), run); }));
    });
}

std::string SimulatedStep::page() const {
    const State& of = *state_;
    if (!of.wall) throw std::logic_error("the job does not fit in memory and was not simulated");
    SimulationOptions whole = of.options;
    whole.recording = Recording::spans_and_links;
    JobExplanation explained = explain_job(of.study, {}, {.simulation = whole, .changes = false});
    explained.report.advice = of.report.advice;
    return explained_page(explained, of.input());
}

void SimulatedStep::write_trace(const std::filesystem::path& path) const {
    write_step_trace(state_->again(Recording::spans_and_links), path);
}

TimelineColumns SimulatedStep::timeline() const {
    const Simulation run = state_->again(Recording::spans);
    const Program& program = run.step.program;
    TimelineColumns columns{.lanes = program.lanes, .labels = program.labels};
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        const RankClass& ops = program.classes[id];
        for (OpId op{ops.first_op}; op != OpId{ops.end_op()}; op = next(op)) {
            if (program.ops[op].kind == OpKind::join) continue;
            const Span& span = run.timeline.spans[op];
            columns.rank.push_back(static_cast<std::uint32_t>(index(ops.representative)));
            columns.stage.push_back(run.step.stage[id]);
            columns.lane.push_back(static_cast<std::uint16_t>(index(program.ops[op].lane)));
            columns.label.push_back(static_cast<std::uint32_t>(index(program.ops[op].label)));
            columns.posted.push_back(since_start(span.posted).value);
            columns.begin.push_back(since_start(span.begin).value);
            columns.end.push_back(since_start(span.end).value);
        }
    }
    return columns;
}

InputError::InputError(const std::string& what, std::vector<Mistake> mistakes)
    : std::runtime_error(what), mistakes_(std::move(mistakes)) {}

std::vector<Mistake> mistakes_of(const ConfigError& error) {
    return list_of<Mistake>(error.diagnostics(), [](const Diagnostic& each) {
        return Mistake{.file = each.file,
                       .line = each.line,
                       .column = each.column,
                       .key = each.key,
                       .message = each.message,
                       .suggestions = suggested_names(each.message)};
    });
}

std::string command_text(std::string_view command, const std::vector<std::string>& arguments) {
    return told([&] {
        const Command& known = find_command(command);
        if (!known.is_of_library) throw std::invalid_argument(fmt::format("weft {} is of the shell", command));
        const auto words = list_of<const char*>(arguments, &std::string::c_str);
        Answer answer = known.run(parse_arguments(known, words));
        for (const ExitMeaning& each : exit_meanings) {
            if (answer.exit == each.code && answer.exit != Exit::ok)
                throw std::invalid_argument(fmt::format("weft {}: {}", command, each.meaning));
        }
        return std::move(answer.text);
    });
}

std::string import_json(const std::vector<std::string>& files, const Overrides& overrides) {
    return told([&] {
        const std::vector<SourceFile> sources = read_sources(files);
        const Format& format = format_of(sources, {});
        return weft::import_json(format, import_files(format, sources, format_options(overrides)));
    });
}

std::string model_json(const std::string& name) {
    return told([&] { return json_text(weft::model_json(load_model(name))); });
}

std::vector<std::string> machines() { return shipped_names(embedded::machines()); }
std::vector<std::string> models() { return shipped_names(embedded::catalog()); }
std::string_view version() { return weft::version; }

}  // namespace weft::library
