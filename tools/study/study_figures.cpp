// The figures 1, 2 and 7 to 15 of arXiv 2408.10197. Its text names models, schemes and scales; where it does not, the
// notes say what was chosen (workloads/study/README.md discusses each).
#include <array>

#include "tools/study/measures.hpp"
#include "tools/study/study_cases.hpp"
#include "tools/study/study_figure.hpp"

namespace weft {
namespace {

using namespace measures;

constexpr std::array<std::uint32_t, 7> nodes{1, 2, 4, 8, 16, 32, 64};
constexpr std::array<std::uint32_t, 4> study_lengths{512, 1024, 2048, 4096};
constexpr std::array<std::uint32_t, 8> long_lengths{512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
constexpr std::uint32_t sequence_ranks = 16;  // 2 nodes of 8 GCDs

const ChartAxis bytes_axis{.title = "Volume per GCD and step", .unit = "B"};
const ChartAxis log_bytes_axis{.title = "Volume per GCD and step", .unit = "B", .scale = AxisScale::log10};
const ChartAxis share_axis{.title = "Share of volume", .unit = "B"};
const ChartAxis throughput_axis{.title = "Throughput per GCD", .unit = "TFLOP/s"};
const ChartAxis length_axis{.title = "Sequence length (tokens)", .scale = AxisScale::log2};

std::vector<StudyCase> of_model(std::vector<StudyCase> cases, const std::string& catalog) {
    for (StudyCase& one : cases) one.overrides.push_back("model=" + catalog);
    return cases;
}

std::vector<StudyScheme> joined(std::span<const StudyScheme> first, std::span<const StudyScheme> second) {
    std::vector<StudyScheme> all(first.begin(), first.end());
    all.insert(all.end(), second.begin(), second.end());
    return all;
}

// All models under data-parallel schemes: figures 7, 8 and 10.
std::vector<StudyCase> data_parallel_cases() { return models_by_schemes(study_models(), data_schemes(), 0); }
// One replica of each model, cut up: figures 11 to 13.
std::vector<StudyCase> replica(std::span<const StudyScheme> schemes) {
    return models_by_schemes(study_models(), schemes, 1);
}

void add_scaling(std::vector<StudyFigure>& figures) {
    const auto add = [&](std::string name, std::uint32_t number, const std::string& model,
                         std::vector<StudyCase> cases) {
        figures.push_back(
            {.name = std::move(name),
             .number = number,
             .title = "Computation and communication of GPT-NeoX " + model,
             .note = "ZeRO-1 over tensor 8, one replica per node of Frontier, one micro-batch of 4 x 2048",
             .job = "scaling",
             .cases = std::move(cases),
             .measure = step_breakdown,
             .arrangement = Arrangement::bars_of_cases,
             .kind = ChartKind::percent_bars,
             .x = {.title = "Nodes (8 GCDs each)"},
             .y = {.title = "Share of step time", .unit = "s"}});
    };
    add("figure-01", 1, "13B", of_model(growing_machine(nodes), "gpt-neox-13b"));
    std::vector<StudyCase> largest = of_model(growing_machine(nodes), "gpt-neox-20b");
    for (StudyCase& one : largest) one.overrides.emplace_back("deepspeed.partition_activations=false");
    add("figure-02", 2, "20B", std::move(largest));
}

void add_data_parallel(std::vector<StudyFigure>& figures) {
    const std::string where = "8 GCDs (16 for 13B), micro-batch 4 x 2048; ";
    figures.push_back({.name = "figure-07",
                       .number = 7,
                       .title = "Share of each collective under data parallelism",
                       .note = where + "start-up and one step of rank 0",
                       .job = "data-parallel",
                       .cases = data_parallel_cases(),
                       .measure = run_volume_by_collective,
                       .arrangement = Arrangement::bars_of_cases,
                       .kind = ChartKind::percent_bars,
                       .x = {},
                       .y = share_axis});
    figures.push_back(
        {.name = "figure-08",
         .number = 8,
         .title = "Volume of each collective under data parallelism",
         .note = where + "start-up and one step of rank 0; from 1 MB on",
         .job = "data-parallel",
         .cases = data_parallel_cases(),
         .measure = run_volume_by_collective,
         .arrangement = Arrangement::bars_of_cases,
         .kind = ChartKind::grouped_bars,
         .x = {},
         .y = {.title = log_bytes_axis.title, .unit = log_bytes_axis.unit, .scale = AxisScale::log10, .floor = 1e6}});
    constexpr std::array<StudyModel, 3> sized{
        {{"19M", "gpt-neox-19m", 16}, {"1.3B", "gpt-neox-1.3b", 16}, {"13B", "gpt-neox-13b", 16}}};
    figures.push_back({.name = "figure-09",
                       .number = 9,
                       .title = "All-gather messages under ZeRO-3 by size",
                       .note = "16 GCDs, one steady step of rank 0; sizes as the logger has them, the shard of a rank",
                       .job = "data-parallel",
                       .cases = models_by_schemes(sized, data_schemes().last(1), 0),
                       .measure = all_gather_sizes,
                       .arrangement = Arrangement::bars_of_series,
                       .kind = ChartKind::grouped_bars,
                       .x = {.title = "Message size"},
                       .y = {.title = "Calls per step", .unit = "", .scale = AxisScale::log10}});
    figures.push_back({.name = "figure-10",
                       .number = 10,
                       .title = "Data-parallel volume: theory and framework",
                       .note = where + "one steady step of rank 0",
                       .job = "data-parallel",
                       .cases = data_parallel_cases(),
                       .measure = data_parallel_theory,
                       .arrangement = Arrangement::bars_of_cases,
                       .kind = ChartKind::grouped_bars,
                       .x = {},
                       .y = log_bytes_axis,
                       .references = {"equations 2 and 3"}});
}

void add_model_parallel(std::vector<StudyFigure>& figures) {
    const std::string where = "one replica, micro-batch 4 x 2048; one steady step";
    const auto add = [&](std::string name, std::uint32_t number, std::string title, const std::string& note,
                         std::vector<StudyCase> cases, Measure measure, ChartKind kind, const ChartAxis& y,
                         std::vector<std::string> references) {
        figures.push_back({.name = std::move(name),
                           .number = number,
                           .title = std::move(title),
                           .note = where + note,
                           .job = "model-parallel",
                           .cases = std::move(cases),
                           .measure = measure,
                           .arrangement = Arrangement::bars_of_cases,
                           .kind = kind,
                           .x = {},
                           .y = y,
                           .references = std::move(references)});
    };
    const std::vector<StudyCase> pipeline = replica(pipeline_schemes()), tensor = replica(tensor_schemes());
    const std::vector<StudyCase> pipeline_mixes = replica(joined(pipeline_schemes(), mixed_schemes()));
    const std::vector<StudyCase> tensor_mixes = replica(joined(tensor_schemes(), mixed_schemes()));
    add("figure-11a", 11, "Volume under pipeline parallelism", " of rank 0, every call", pipeline, total_volume,
        ChartKind::grouped_bars, log_bytes_axis, {});
    add("figure-11b", 11, "Volume under tensor parallelism", " of rank 0, every call", tensor, total_volume,
        ChartKind::grouped_bars, log_bytes_axis, {});
    add("figure-12a", 12, "Share of each collective under pipeline parallelism", " of rank 0 as the logger sees it",
        pipeline_mixes, logged_volume_by_collective, ChartKind::percent_bars, share_axis, {});
    add("figure-12b", 12, "Share of each collective under tensor parallelism", " of rank 0, every call", tensor_mixes,
        volume_by_collective, ChartKind::percent_bars, share_axis, {});
    add("figure-12c", 12, "Share of each collective in logged sizes", " of rank 0: sizes as the logger prints them",
        pipeline_mixes, logged_sizes_by_collective, ChartKind::percent_bars, share_axis, {});
    const ChartAxis sends{.title = "Sent by all stages in a step", .unit = "B", .scale = AxisScale::log10};
    add("figure-13a", 13, "Pipeline volume: theory and framework", " of all stages together", pipeline, pipeline_theory,
        ChartKind::grouped_bars, sends, {"equation 4", "equation 4 and masks"});
    add("figure-13b", 13, "Tensor-parallel volume: theory and framework", " of rank 0", tensor_mixes, tensor_theory,
        ChartKind::grouped_bars, log_bytes_axis, {"equation 5"});
}

// Section V-B1 reports of the first receive of a run. How long a connection takes to set up is assumed.
void add_first_receive(std::vector<StudyFigure>& figures) {
    const auto step = [](std::string name, const char* kind) {
        StudyCase one{.model = std::move(name), .scheme = "TP 2 PP 2", .overrides = {}};
        one.overrides = scheme_overrides(mixed_schemes().front(), 1, 4);
        one.overrides.insert(one.overrides.end(),
                             {"model=gpt-neox-1.3b", "batch.global=16", "first_use=1 s", std::string("step=") + kind});
        return one;
    };
    figures.push_back({.name = "first-receive",
                       .number = 0,
                       .title = "Each receive of the first step and of a later one",
                       .note = "1.3B, TP 2 PP 2, 4 micro-batches of 4 x 2048, as rank 0 logs them; connecting: 1 s "
                               "(assumed)",
                       .job = "model-parallel",
                       .cases = {step("first step", "first"), step("later step", "steady")},
                       .measure = receive_times,
                       .arrangement = Arrangement::bars_of_series,
                       .kind = ChartKind::grouped_bars,
                       .x = {.title = "Receive"},
                       .y = {.title = "Time from call to end", .unit = "s", .scale = AxisScale::log10}});
}

void add_sequence_length(std::vector<StudyFigure>& figures) {
    const auto add = [&](std::string name, std::uint32_t number, std::string title, std::string note,
                         std::vector<StudyCase> cases, Measure measure, const ChartAxis& y) {
        figures.push_back({.name = std::move(name),
                           .number = number,
                           .title = std::move(title),
                           .note = "GPT-NeoX 1.3B on 16 GCDs, " + note,
                           .job = "sequence-length",
                           .cases = std::move(cases),
                           .measure = measure,
                           .arrangement = Arrangement::lines,
                           .kind = ChartKind::lines,
                           .x = length_axis,
                           .y = y});
    };
    const auto studied = [](std::span<const StudyScheme> schemes) {
        return schemes_by_lengths(schemes, study_lengths, sequence_ranks, 4);
    };
    // A sequence at a time and an attention that stores no s x s matrix, so that the longest ones fit.
    const auto beyond = [](std::span<const StudyScheme> schemes) {
        std::vector<StudyCase> cases = schemes_by_lengths(schemes, long_lengths, sequence_ranks, 1);
        for (StudyCase& one : cases) one.overrides.emplace_back("attention=flash");
        return cases;
    };
    const std::string study = "micro-batch 4", further = "micro-batch 1, fused attention";
    const std::string alike = "; ZeRO-1 and ZeRO-2 are alike at one micro-batch per step";
    const std::span<const StudyScheme> data = data_schemes(), model = sequence_schemes();
    add("figure-14a", 14, "All-gather volume by sequence length", study, studied(joined(data, model)),
        all_gather_volume, bytes_axis);
    figures.back().arrangement = Arrangement::bars_of_schemes;  // lines would cover each other: nothing changes
    figures.back().kind = ChartKind::grouped_bars;
    figures.back().x = {};
    add("figure-14b", 14, "Throughput by sequence length under data parallelism", study + alike, studied(data),
        throughput, throughput_axis);
    add("figure-14c", 14, "Throughput up to 65536 tokens under data parallelism", further + alike, beyond(data),
        throughput, throughput_axis);
    add("figure-15a", 15, "Received volume by sequence length", study + ", rank 0", studied(model), receive_volume,
        bytes_axis);
    add("figure-15b", 15, "Sent volume by sequence length", study + ", rank 0", studied(model), send_volume,
        bytes_axis);
    add("figure-15c", 15, "Throughput by sequence length under model parallelism", study, studied(model), throughput,
        throughput_axis);
    add("figure-15d", 15, "Throughput up to 65536 tokens under model parallelism", further, beyond(model), throughput,
        throughput_axis);
}

}  // namespace

std::vector<StudyFigure> study_figures() {
    std::vector<StudyFigure> figures;
    add_scaling(figures);
    add_data_parallel(figures);
    add_model_parallel(figures);
    add_sequence_length(figures);
    add_first_receive(figures);
    return figures;
}

}  // namespace weft
