// How operands of products with parameters become 8 or 4 bits wide: recipes by the names that Megatron-core has for
// them
// (--fp8-recipe, and --fp4-format's nvfp4), as Transformer Engine 2 runs them. Sources: its
// docs/features/low_precision_training (performance_considerations, and a page for each recipe) and common/recipe;
// which norms write what they make cast, pytorch/csrc/extensions/normalization.cpp.
//
//              scale factors                            passes over what is cast
//   delayed    one of a tensor, from earlier steps      one; none after a norm
//   tensorwise one of a tensor                          its maximum first; a norm takes that itself
//   blockwise  fp32 of 128 elements, of 128 x 128 of    one, into a form for each order in which the tensor is read:
//   one
//              weights (DeepSeek-V3, 2412.19437)        cannot be made of the other
//   mxfp8      one byte of 32 elements                  as blockwise
//   nvfp4      one byte of 16 elements, one of the      its maximum first, after a transform of what the weight's
//              tensor                                   gradient takes; then as blockwise
//
// With one scale for a tensor the second form is the first one transposed, and made when backward needs it. It is
// counted on all devices, though Blackwell's matrix units read 8 bits in either order. Of weights, cast once per step,
// nothing is counted, neither time nor copies. All three products of a map run narrow, those of the output layer
// where Shard::narrow_output says so, and those of attention where Shard::narrow_attention does; router, embedding and
// norms do not.
#pragma once

#include <array>
#include <cstdint>

#include "models/transformer/kernels.hpp"

namespace weft {

enum class SecondForm : std::uint8_t { transposed, cast };  // for the other order in which a tensor is read

struct Recipe {
    double bytes = 1.0;          // of an element, its share of scales included
    double reads = 1.0;          // of a tensor in 16 bits, to cast it
    double reads_of_norm = 0.0;  // of what a norm has just made; 0: the norm writes it cast
    SecondForm second = SecondForm::transposed;
    bool shares_maximum = false;  // ranks that gather a tensor agree on its maximum first

    // Of an element, what a cast of it writes for both orders: one form where the other is made of it.
    constexpr double written() const { return second == SecondForm::cast ? 2.0 * bytes : bytes; }
};

constexpr Recipe recipe_of(Casting casting) {
    constexpr auto cast = SecondForm::cast;
    constexpr std::array<Recipe, 6> recipes{
        {{.bytes = 2.0, .reads = 0.0},  // none
         {},                            // delayed
         {.reads = 2.0, .reads_of_norm = 1.0, .shares_maximum = true},
         {.bytes = 1.0 + 4.0 / 128.0, .reads_of_norm = 1.0, .second = cast},
         {.bytes = 1.0 + 1.0 / 32.0, .reads_of_norm = 1.0, .second = cast},
         {.bytes = 0.5 + 1.0 / 16.0, .reads = 2.0, .reads_of_norm = 2.0, .second = cast, .shares_maximum = true}}};
    return recipes[static_cast<std::size_t>(casting)];
}

// Of what attention takes under it: 4 bits are too few, and one scale of a tensor is the recipe beside them
// (Megatron-Bridge 067f987d, perf_recipes/llama/gb200/llama3.py: NVTE_DPA_FP8_RECIPE).
constexpr Recipe attention_recipe(Casting casting) {
    return recipe_of(casting == Casting::nvfp4 ? Casting::tensorwise : casting);
}

}  // namespace weft
