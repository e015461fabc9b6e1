// The parts of a model object that speak of layers, or of kinds of them.
#pragma once

#include "models/transformer/transformer.hpp"

namespace weft {

// What layers of a kind may have that others have not: "mixer", "recurrence", "attention_window", ... Keys that are
// left out leave the layer as it is.
void read_mixer(Field& field, Layer& layer);

// "layer_kinds" and "layer_pattern": a list of names of kinds, or a text of kinds of one letter, which layers take in
// turn, again and again.
void read_kinds(Field& field, Transformer& model);

}  // namespace weft
