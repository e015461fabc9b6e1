// How the layers of a model are dealt to pipeline stages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

// Transformer layers per stage as GPT-NeoX and DeepSpeed 0.14 split `layers` by `type:transformer|mlp`, over at most
// layers + 2 stages. The pattern also matches the two reshaping functions before and after the layers, so these weigh
// as much as a layer. DeepSpeed's balanced partition keeps, for each prefix, the cut with the smallest difference
// between the heaviest and the lightest part, the latest of equals: of equal items the first parts then hold one more.
std::vector<std::uint32_t> neox_split(std::uint32_t layers, std::uint32_t stages);

// The same number of layers on every stage; empty, with the reason in `why`, where stages do not divide layers.
std::vector<std::uint32_t> even_split(std::uint32_t layers, std::uint32_t stages, std::string& why);

// Embedding and output layer count as a layer each, so the first and the last stage hold one fewer: Megatron's
// --account-for-embedding-in-pipeline-split and --account-for-loss-in-pipeline-split, DeepSpeed's
// `type:transformer|embedding`. Empty, with the reason in `why`, where stages do not divide layers + 2.
std::vector<std::uint32_t> ends_split(std::uint32_t layers, std::uint32_t stages, std::string& why);

}  // namespace weft
