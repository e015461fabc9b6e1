// The cases that figures of the study share: models by schemes, scales and sequence lengths.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/study/study_figure.hpp"

namespace weft {

struct StudyModel {
    std::string_view name;     // as the study calls it
    std::string_view catalog;  // models/catalog/<catalog>.json
    std::uint32_t data_ranks;  // of its data-parallel runs: one node, but two for 13B
};
std::span<const StudyModel> study_models();  // by size

// A scheme is a layout of `ranks` data copies, a ZeRO stage or both; adding one here adds it to its figures.
struct StudyScheme {
    std::string_view name;
    std::uint32_t tensor, pipeline, zero;
};
std::span<const StudyScheme> data_schemes();      // DDP, ZeRO-1, ZeRO-2, ZeRO-3
std::span<const StudyScheme> pipeline_schemes();  // PP 2, 4, 8
std::span<const StudyScheme> tensor_schemes();    // TP 2, 4, 8
std::span<const StudyScheme> mixed_schemes();     // TP x PP
std::span<const StudyScheme> sequence_schemes();  // TP 2, PP 2 and both

// Overrides of the keys that name a scheme on `data` copies with micro-batches of `micro` sequences, one per step.
std::vector<std::string> scheme_overrides(const StudyScheme& scheme, std::uint32_t data, std::uint32_t micro);

// Every model under every scheme: `data` copies, or those of the model where it is 0.
std::vector<StudyCase> models_by_schemes(std::span<const StudyModel> models, std::span<const StudyScheme> schemes,
                                         std::uint32_t data);
// One model under every scheme at every sequence length, on as many ranks whatever the scheme.
std::vector<StudyCase> schemes_by_lengths(std::span<const StudyScheme> schemes, std::span<const std::uint32_t> lengths,
                                          std::uint32_t ranks, std::uint32_t micro);
// ZeRO-1 over tensor 8 on ever more nodes of 8 GCDs, one replica per node.
std::vector<StudyCase> growing_machine(std::span<const std::uint32_t> nodes);

}  // namespace weft
