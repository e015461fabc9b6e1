// Models that torchtitan ships, by name and flavour as its configurations call them: flavours.json.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/transformer/transformer.hpp"

namespace weft {

struct TorchtitanFlavour {
    std::string model;    // "llama3"
    std::string flavour;  // "8B"
    std::string object;   // a model, as its file says it
    Transformer shape;    // the same, read
};

std::span<const TorchtitanFlavour> torchtitan_flavours();
// nullptr: none of these. Flavours that differ in the attention's mask or kernel alone ("8B_flex") are the plain ones.
const TorchtitanFlavour* find_torchtitan_flavour(std::string_view model, std::string_view flavour);
// The one of this shape; nullptr: none.
const TorchtitanFlavour* torchtitan_flavour_of(const Transformer& shape);
std::string known_torchtitan_flavours();  // "llama3 8B, llama3 70B, ..."

}  // namespace weft
