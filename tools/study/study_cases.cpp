#include "tools/study/study_cases.hpp"

#include <fmt/format.h>

#include <array>

namespace weft {
namespace {

constexpr std::uint32_t study_micro_batch = 4;  // sequences; train_micro_batch_size_per_gpu of all configurations

constexpr auto models = std::to_array<StudyModel>({{"19M", "gpt-neox-19m", 8},
                                                   {"125M", "gpt-neox-125m", 8},
                                                   {"1.3B", "gpt-neox-1.3b", 8},
                                                   {"13B", "gpt-neox-13b", 16}});
constexpr auto by_data =
    std::to_array<StudyScheme>({{"DDP", 1, 1, 0}, {"ZeRO-1", 1, 1, 1}, {"ZeRO-2", 1, 1, 2}, {"ZeRO-3", 1, 1, 3}});
constexpr auto by_pipeline = std::to_array<StudyScheme>({{"PP 2", 1, 2, 1}, {"PP 4", 1, 4, 1}, {"PP 8", 1, 8, 1}});
constexpr auto by_tensor = std::to_array<StudyScheme>({{"TP 2", 2, 1, 1}, {"TP 4", 4, 1, 1}, {"TP 8", 8, 1, 1}});
constexpr auto mixed =
    std::to_array<StudyScheme>({{"TP 2 PP 2", 2, 2, 1}, {"TP 2 PP 4", 2, 4, 1}, {"TP 4 PP 2", 4, 2, 1}});
constexpr auto by_sequence = std::to_array<StudyScheme>({{"TP 2", 2, 1, 1}, {"PP 2", 1, 2, 1}, {"TP 2 PP 2", 2, 2, 1}});

}  // namespace

std::span<const StudyModel> study_models() { return models; }
std::span<const StudyScheme> data_schemes() { return by_data; }
std::span<const StudyScheme> pipeline_schemes() { return by_pipeline; }
std::span<const StudyScheme> tensor_schemes() { return by_tensor; }
std::span<const StudyScheme> mixed_schemes() { return mixed; }
std::span<const StudyScheme> sequence_schemes() { return by_sequence; }

std::vector<std::string> scheme_overrides(const StudyScheme& scheme, std::uint32_t data, std::uint32_t micro) {
    return {fmt::format("layout.tensor={}", scheme.tensor),
            fmt::format("layout.pipeline={}", scheme.pipeline),
            fmt::format("layout.data={}", data),
            fmt::format("zero={}", scheme.zero),
            fmt::format("batch.micro={}", micro),
            fmt::format("batch.global={}", micro * data)};
}

std::vector<StudyCase> models_by_schemes(std::span<const StudyModel> chosen, std::span<const StudyScheme> schemes,
                                         std::uint32_t data) {
    std::vector<StudyCase> cases;
    for (const StudyModel& model : chosen) {
        for (const StudyScheme& scheme : schemes) {
            StudyCase one{.model = std::string(model.name), .scheme = std::string(scheme.name), .overrides = {}};
            one.overrides = scheme_overrides(scheme, data > 0 ? data : model.data_ranks, study_micro_batch);
            one.overrides.push_back(fmt::format("model={}", model.catalog));
            cases.push_back(std::move(one));
        }
    }
    return cases;
}

std::vector<StudyCase> schemes_by_lengths(std::span<const StudyScheme> schemes, std::span<const std::uint32_t> lengths,
                                          std::uint32_t ranks, std::uint32_t micro) {
    std::vector<StudyCase> cases;
    for (const StudyScheme& scheme : schemes) {
        for (const std::uint32_t length : lengths) {
            StudyCase one{
                .model = "1.3B", .scheme = std::string(scheme.name), .position = double(length), .overrides = {}};
            one.overrides = scheme_overrides(scheme, ranks / (scheme.tensor * scheme.pipeline), micro);
            one.overrides.push_back(fmt::format("batch.sequence={}", length));
            cases.push_back(std::move(one));
        }
    }
    return cases;
}

std::vector<StudyCase> growing_machine(std::span<const std::uint32_t> nodes) {
    std::vector<StudyCase> cases;
    for (const std::uint32_t count : nodes) {
        cases.push_back({.model = "",
                         .scheme = fmt::to_string(count),
                         .position = double(count),
                         .overrides = scheme_overrides({"", 8, 1, 1}, count, study_micro_batch)});
    }
    return cases;
}

}  // namespace weft
