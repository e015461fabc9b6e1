#include <chrono>
#include <optional>
#include <utility>

#include "tools/command.hpp"
#include "tools/digest.hpp"
#include "tools/explain/job_explanation.hpp"
#include "tools/library/internal.hpp"
#include "tools/output/explanation_text.hpp"
#include "tools/output/plan_text.hpp"
#include "tools/parallel.hpp"
#include "tools/plan/request.hpp"
#include "tools/sweep/sweep.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job/job_reading.hpp"

namespace weft::library {

struct WarmJob::State {
    static constexpr std::size_t most_topologies = 16;  // of a whole machine, tens of MB each

    JobSource source;
    Overrides overrides;
    std::optional<Document> own{};  // with these overrides; absent: others may be read from the source otherwise
    std::vector<std::string> notes{};
    StudySources sources{};
    mutable TopologyPool topologies{most_topologies};

    Overrides with(const Overrides& more) const {
        Overrides all = overrides;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    Document document(const Overrides& more) const {
        if (!own) return open_job(source, with(more)).document;
        Document document = own->copy();
        for (const std::string& assignment : more) document.assign(assignment);
        return document;
    }
    JobRecord record(const Overrides& more) const {
        return {.overrides = with(more), .digest = input_digest(document(more))};
    }
};

namespace {

unsigned threads_of(const WorkChoices& choices) { return choices.threads > 0 ? choices.threads : all_threads(); }

std::shared_ptr<const WarmJob::State> opened(JobSource source, const Overrides& overrides) {
    return told([&] {
        const bool is_own =
            source.text || (!source.is_empty() && find_format({source.path.string(), source.read()}) == nullptr);
        OpenedJob job = open_job(source, overrides);
        const auto state = std::make_shared<WarmJob::State>();
        state->source = std::move(source);
        state->overrides = overrides;
        for (const FormatNote& note : job.notes) {
            state->notes.push_back(note.origin.key.empty() ? note.message : note.origin.key + ": " + note.message);
        }
        if (is_own) state->own = std::move(job.document);
        return std::shared_ptr<const WarmJob::State>(state);
    });
}

// What fits or may be simulated all the same, on a topology that lies ready.
std::shared_ptr<const SimulatedStep::State> simulated(const WarmJob::State& job, const Overrides& overrides,
                                                      const SimulationChoices& choices) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const SimulationOptions options{
        .network = network_named(choices.network), .folding = folding_named(choices.folding), .kept = Kept::sums};
    Document document = job.document(overrides);
    Study study = read_study(document.copy(), Purpose::simulation, job.sources);
    Plan plan = make_plan(study);
    const auto state = std::make_shared<SimulatedStep::State>(SimulatedStep::State{.study = std::move(study),
                                                                                   .options = options,
                                                                                   .document = std::move(document),
                                                                                   .overrides = job.with(overrides)});
    std::vector<MemoryAdvice> advice;
    if (!plan.fits()) advice = memory_advice(state->study);
    if (!plan.fits() && !choices.beyond_memory) {
        state->report = planned_report(plan, options.network);
        state->plan = std::move(plan);
    } else {
        const Study& of = state->study;
        Simulation run =
            simulate_step(std::move(plan), options, job.topologies.take(of.machine, of.job.nodes, of.job.fabric));
        state->report = make_report(run);
        job.topologies.put_back(of.machine, of.job.nodes, of.job.fabric, std::move(run.prepared));
        state->plan = std::move(run.plan);
        state->wall = Seconds{std::chrono::duration<double>(Clock::now() - start).count()};
    }
    state->report.advice = std::move(advice);
    return state;
}

}  // namespace

WarmJob::WarmJob(std::shared_ptr<const State> state) : state_(std::move(state)) {}

WarmJob WarmJob::open(const std::filesystem::path& file, const Overrides& overrides) {
    return WarmJob(opened(file, overrides));
}

WarmJob WarmJob::read(std::string json, const Overrides& overrides, const std::filesystem::path& folder) {
    JobSource source(folder / "job");
    source.text = std::move(json);
    return WarmJob(opened(std::move(source), overrides));
}

const std::vector<std::string>& WarmJob::notes() const { return state_->notes; }

SimulatedStep WarmJob::simulate(const Overrides& overrides, const SimulationChoices& choices) const {
    return told([&] { return SimulatedStep(simulated(*state_, overrides, choices)); });
}

std::string WarmJob::explain_json(const Overrides& overrides, const WorkChoices& choices) const {
    return told([&] {
        const Study study = read_study(state_->document(overrides), Purpose::simulation, state_->sources);
        if (const std::string reason = obstacle(make_plan(study)); !reason.empty()) throw RangeError(reason);
        const JobExplanation explained =
            explain_job(study, {.source = state_->source, .overrides = state_->with(overrides)},
                        {.simulation = {.folding = Folding::automatic},
                         .threads = threads_of(choices),
                         .progress = choices.progress});
        return explanation_json(explained, state_->record(overrides));
    });
}

std::string WarmJob::plan_json(const PlanChoices& choices) const {
    return told([&] {
        PlanRequest request{.job = state_->source, .overrides = state_->overrides, .among = {}};
        for (const std::string& text : choices.among) request.among.push_back(parse_variation(text));
        const PlanResult result =
            search_layouts(read_space(request), {.searched = choices.modelled ? Searched::modelled : Searched::runnable,
                                                 .threads = threads_of(choices),
                                                 .progress = choices.progress});
        return weft::plan_json(result, state_->record({}), choices.top);
    });
}

SweepTable WarmJob::sweep(const SweepChoices& choices) const {
    return told([&] {
        SweepRequest request{.job = state_->source,
                             .overrides = state_->overrides,
                             .conditions = choices.where,
                             .simulation = {.network = network_named(choices.network),
                                            .folding = folding_named(choices.folding),
                                            .kept = Kept::sums}};
        auto variations = list_of<Variation>(choices.zip, parse_zip);
        for (const std::string& text : choices.vary) variations.push_back(parse_variation(text));
        request.grid = SweepGrid(std::move(variations));
        SweepSettings settings;
        if (choices.progress) settings.progress = choices.progress;
        const std::unique_ptr<Crew> crew = thread_crew(threads_of(choices));
        ResultTable found = SweepRun(request).run(*crew, settings).table();
        SweepTable table;
        for (const Column& column : found.columns) {
            table.columns.push_back(column.name);
            table.units.push_back(column.unit);
        }
        table.rows = std::move(found.rows);
        return table;
    });
}

}  // namespace weft::library
