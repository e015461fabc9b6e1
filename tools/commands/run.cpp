// `weft run JOB --tokens N`: a whole training run, with failures, checkpoints and energy.
#include <fmt/format.h>

#include <cstdio>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/endurance/run.hpp"
#include "tools/output/result_texts.hpp"
#include "tools/page/pages.hpp"
#include "tools/parallel.hpp"
#include "tools/plan/request.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/report/report.hpp"

namespace weft::commands {
namespace {

Study study_of_batch(const po::variables_map& arguments, std::uint32_t batch) {
    std::vector<std::string> overrides = job_overrides(arguments);
    overrides.push_back(fmt::format("batch.global={}", batch));
    return read_study(open_job(job_path(arguments), overrides).document);
}

// The batches of the run, the job's own last.
std::vector<BatchStretch> batches(const po::variables_map& arguments, const Job& job) {
    std::vector<BatchStretch> all;
    if (const std::optional<BatchRamp> ramp = batch_ramp(arguments)) {
        const std::string why = obstacle(*ramp, job.batch.global, std::uint64_t{job.batch.micro} * job.layout.data);
        if (!why.empty()) throw OptionError("--ramp: " + why);
        all = stretches(*ramp, job.batch.global);
    }
    all.push_back({job.batch.global, 0});
    return all;
}

std::vector<RunStretch> simulate_batches(const po::variables_map& arguments, const Study& study, const Plan& plan) {
    SimulationOptions options = simulation_options(arguments, {}, threads_option(arguments));
    options.kept = Kept::sums;
    const std::vector<BatchStretch> all = batches(arguments, study.job);
    std::vector<RunStretch> result(all.size());
    ProgressBar bar;
    for_each_in_parallel(
        all.size(), threads_option(arguments),
        [&](std::size_t i) {
            const auto [batch, steps] = all[i];
            if (i + 1 == all.size()) {
                result[i] = run_stretch(make_report(simulate_step(study, plan, options)), batch, steps);
                return;
            }
            const Study other = study_of_batch(arguments, batch);
            result[i] = run_stretch(make_report(simulate_step(other, make_plan(other), options)), batch, steps);
        },
        [&](std::size_t done, std::size_t count) { bar.show(done, count); });
    return result;
}

// As much slower as steps are on average that meet flows of others; returns by how much.
double slow_down(std::vector<RunStretch>& stretches, const std::optional<CongestedSteps>& met) {
    const double factor = met ? met->mean / stretches.back().time : 1.0;
    for (RunStretch& each : stretches) {
        each.exposed += each.time * (factor - 1.0);
        each.time = each.time * factor;
    }
    return factor;
}

std::vector<RunSample> play(const LongRun& run, std::uint32_t seed, std::uint32_t count, unsigned threads) {
    std::vector<RunSample> samples(count);
    ProgressBar bar;
    for_each_in_parallel(
        count, threads, [&](std::size_t i) { samples[i] = sample_run(run, seed, i); },
        [&](std::size_t done, std::size_t all) { bar.show(done, all); });
    return samples;
}

// With what makes the same run again.
std::string page_command(const po::variables_map& arguments, const RunResult& result) {
    return typed_command("run", arguments,
                         {"tokens", "steps", "days", "ramp", "checkpoint-every", "spares", "hardware-every",
                          "software-every", "planned-every", "detection", "stop", "launch", "repair", "storage-share",
                          "price", "asynchronous", "network"}) +
           fmt::format(" --samples {} --seed {}", result.samples, result.seed);
}

Answer answer_run(const po::variables_map& typed) {
    const po::variables_map arguments = with_best_layout(typed);
    const std::string page = output_option(arguments, "report", {".html"});
    const RunTerms terms = run_terms(arguments);
    const std::optional<double> hourly = price(arguments);
    const std::uint32_t count = *count_option(arguments, {.name = "samples", .most = 10'000'000});
    const std::uint32_t seed = *count_option(arguments, {.name = "seed", .least = 0});
    const Study study = job_study(arguments);
    const Plan plan = make_plan(study);
    if (const std::string why = obstacle(plan); !why.empty()) {
        fmt::print(stderr, "{}: {}\n", job_path(arguments), why);
        return {.text = {}, .exit = Exit::does_not_fit};
    }
    std::vector<RunStretch> stretches = simulate_batches(arguments, study, plan);
    const double congestion = slow_down(stretches, congested_steps(study, plan, simulation_options(arguments)));
    RunPlan run = plan_run(plan, std::move(stretches), terms);
    run.congestion = congestion;
    check_work(run.run, count);
    const std::vector<RunSample> samples = play(run.run, seed, count, threads_option(arguments));
    const RunResult result = run_result(std::move(run), samples, seed, hourly, study.job.layout.ranks());
    const MachineInfo& machine = study.machine.info();
    if (!page.empty()) {
        write_file_atomically(page, run_page(study.job, machine, result, page_command(arguments, result)));
    }
    return {given(arguments, "json") ? run_json(study.job, machine, job_record(arguments), result)
                                     : run_text(study.job, machine, result)};
}

}  // namespace

extern const Command run{.name = "run", .run = answer_run, .group = CommandGroup::run, .is_of_library = true};

}  // namespace weft::commands
