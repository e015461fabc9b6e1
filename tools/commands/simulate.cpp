// `weft simulate JOB`: one step of one layout.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>
#include <optional>
#include <vector>

#include "sim/io/files.hpp"
#include "sim/io/units.hpp"
#include "tools/command.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/result_table.hpp"
#include "tools/output/timeline_trace.hpp"
#include "tools/output/validation_text.hpp"
#include "tools/page/pages.hpp"
#include "tools/parallel.hpp"
#include "tools/plan/request.hpp"
#include "workloads/report/report.hpp"

namespace weft::commands {
namespace {

struct Comparison {
    Report flow, ideal;
};

Comparison compare(const Study& study, const Plan& plan, SimulationOptions options) {
    const auto with = [&](NetworkKind network) {
        options.network = network;
        return make_report(simulate_step(study, plan, options));
    };
    return {with(NetworkKind::flow), with(NetworkKind::ideal)};
}

// Both networks side by side, metric by metric.
std::string comparison_text(const Comparison& both) {
    TextTable table({"<", "flow", "ideal", "flow / ideal - 1"});
    for (const Metric& flow : both.flow.metrics) {
        const double ideal = both.ideal.metric(flow.key);
        if (flow.kind == MetricKind::flag) continue;
        table.add({std::string(flow.key), fmt::format("{:.6g}", flow.value), fmt::format("{:.6g}", ideal),
                   ideal == 0 ? "" : fmt::format("{:+.2f} %", 100 * (flow.value / ideal - 1))});
    }
    return table.text();
}

std::string comparison_json(const Comparison& both) {
    nlohmann::ordered_json json;
    for (const Metric& flow : both.flow.metrics) {
        if (flow.kind == MetricKind::flag) continue;
        json[std::string(flow.key)] = {{"flow", flow.value}, {"ideal", both.ideal.metric(flow.key)}};
    }
    return json_text(json);
}

std::optional<Metric> asked_flops(const po::variables_map& arguments, const Simulation& simulation) {
    const std::optional<FlopConvention> convention = flops_option(arguments);
    if (!convention) return std::nullopt;
    return flop_metric(simulation.plan.job, *convention, since_start(simulation.timeline.end));
}

constexpr CountOption most_link_samples{.name = "link-samples", .most = 10'000, .reason = "more than anybody looks at"};

constexpr Seconds worth_a_bar{10.0};  // what takes longer says how long, and shows how far it is

// Of a step that may be told how large it is. Refuses what takes too much memory.
SizeListener size_listener(const po::variables_map& arguments, Seconds& foreseen) {
    return [refuse = refuse_above(memory_limit(arguments)), &foreseen](const StepSize& size) {
        refuse(size);
        foreseen = size.time();
        if (foreseen > worth_a_bar) fmt::print(stderr, "simulating takes {}\n", size_text(size));
    };
}

Answer dry_run(const po::variables_map& arguments, const Study& study, const Plan& plan,
               const SimulationOptions& options) {
    const SizedStep step = size_step(plan, prepare(study)->costs(plan),
                                     {.folding = options.folding, .is_written_out = options.kept == Kept::ops});
    if (given(arguments, "json")) return {size_json(step)};
    return {fmt::format("simulating takes {} (--fold {})\n", size_text(step.size), name(step.folding))};
}

// The files that were asked for, by name; "" is none.
struct Files {
    std::string trace, page, links;
    std::uint32_t slices = 0;  // of the links

    bool show_ops() const { return !trace.empty() || !page.empty(); }
};

// Refuses what does not go together before anything runs.
Files asked_files(const po::variables_map& arguments) {
    const Files files{.trace = output_option(arguments, "trace", {".json", ".json.gz", ".pftrace"}),
                      .page = output_option(arguments, "report", {".html"}),
                      .links = output_option(arguments, "links", {".csv", ".csv.gz"}),
                      .slices = count_option(arguments, most_link_samples).value_or(0)};
    if (given(arguments, "compare") &&
        (files.show_ops() || !files.links.empty() || !arguments["network"].defaulted())) {
        throw OptionError("--compare runs both networks; it takes no --network, --trace, --report or --links");
    }
    if (files.slices > 0 && files.links.empty()) {
        throw OptionError("--link-samples is of the file that --links writes");
    }
    flops_option(arguments);  // refuses unknown names
    return files;
}

// `explained`: what the page says, where there is one.
void write_files(const po::variables_map& arguments, const Files& files, const Simulation& simulation,
                 const std::optional<JobExplanation>& explained) {
    std::future<void> traced;  // written while the rest is worked out
    if (!files.trace.empty()) {
        traced = std::async(std::launch::async, [&] { write_step_trace(simulation, files.trace); });
    }
    if (!files.links.empty()) write_step_links(simulation, files.links);
    if (explained) write_file_atomically(files.page, explained_page(*explained, job_input("simulate", arguments)));
    if (traced.valid()) traced.get();
}

Answer simulate_once(const po::variables_map& arguments) {
    const auto start = std::chrono::steady_clock::now();
    const bool is_json = given(arguments, "json");
    const Files files = asked_files(arguments);
    const Study study = job_study(arguments);
    Plan plan = make_plan(study);
    const std::vector<MemoryAdvice> advice = plan.fits() ? std::vector<MemoryAdvice>{} : memory_advice(study);
    const Validity validity = validity_of(plan);
    if (refused_for_memory(arguments, plan, advice)) {
        Report report = planned_report(plan, network_option(arguments));
        report.advice = advice;
        return {is_json ? planned_json(report, plan, job_record(arguments), validity) : "", Exit::does_not_fit};
    }
    SimulationOptions options{
        .network = network_option(arguments),
        .folding = folding_option(arguments),
        .recording = !files.trace.empty() || !files.page.empty() ? Recording::spans_and_links : Recording::spans,
        .kept = files.show_ops() ? Kept::ops : Kept::sums,
        .slices = files.slices};
    if (given(arguments, "dry-run")) return dry_run(arguments, study, plan, options);
    Seconds foreseen;
    std::optional<ProgressBar> bar;
    options.on_size = size_listener(arguments, foreseen);
    options.on_progress = [&](std::uint64_t over, std::uint64_t all) {
        if (foreseen <= worth_a_bar) return;
        if (!bar) bar.emplace();
        bar->show(over, all);
    };
    if (given(arguments, "compare")) {
        const Comparison both = compare(study, plan, options);
        return {is_json ? comparison_json(both) : comparison_text(both)};
    }
    std::optional<JobExplanation> explained;
    if (!files.page.empty()) explained = explain_job(study, {}, {.simulation = options, .changes = false});
    std::optional<Simulation> plain;
    if (!explained) plain = simulate_step(study, std::move(plan), options);
    bar.reset();
    const Simulation& simulation = explained ? explained->step.run : *plain;
    Report report = make_report(simulation);
    report.advice = advice;
    report.congested = congested_steps(study, simulation.plan, options);
    const std::optional<Metric> flops = asked_flops(arguments, simulation);
    if (flops && !report.has(flops->key)) report.metrics.push_back(*flops);
    if (explained) explained->report = report;
    write_files(arguments, files, simulation, explained);
    const Seconds wall{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
    if (is_json) return {report_json(report, simulation.plan, job_record(arguments), validity, wall)};
    std::string text = report_text(report) + "\n";
    if (flops) text += fmt::format("{:.2f} TFLOP/s per GPU: {}\n\n", flops->value, flops->meaning);
    return {text + fmt::format("{}\n{}{} events, {} of wall time\n", validity_text(validity), folding_text(report),
                               report.events, to_text(wall))};
}

Answer run_simulate(const po::variables_map& arguments) {
    const po::variables_map complete = with_best_layout(arguments);
    try {
        return simulate_once(complete);
    } catch (const TooLarge& refused) {
        fmt::print(stderr, "error: {}\n{}", refused.what(),
                   what_would_fit(complete, folding_option(complete), refused));
        return {.exit = Exit::bad_input};
    }
}

}  // namespace

extern const Command simulate{.name = "simulate", .run = run_simulate, .group = CommandGroup::run};

}  // namespace weft::commands
