// What DeepSpeed's own configuration and GPT-NeoX's, which passes it on, have in common. Keys and defaults:
// microsoft/DeepSpeed runtime/config.py, runtime/constants.py, runtime/zero/config.py.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/formats/keys.hpp"

namespace weft {

// Whether the key is there and says something itself: "auto" (Hugging Face's Trainer) says: as elsewhere.
bool says(Field& field, std::string_view key);

// Micro-batch and batch: train_batch_size = micro-batch x accumulation steps x data ranks. `ranks`: data ranks, 0 where
// they are not known. What cannot be known is asked for. `steps`: the key of the accumulation steps.
void read_deepspeed_batch(ForeignKeys& in, double ranks, std::string_view steps = "gradient_accumulation_steps");

// "precision" where one of the sections "fp16" and "bf16" is enabled; whether one leaves it to the Trainer ("auto").
bool read_half_precision(ForeignKeys& in);

// Which engine runs the model: the pipeline engine reduces gradients after the last backward pass, and has no ZeRO-2.
enum class DeepSpeedEngine : std::uint8_t { plain, pipeline };
void read_zero_optimization(ForeignKeys& in, DeepSpeedEngine engine);

// A configuration that a launch script names, over what the script says.
void read_deepspeed_of_launch(const SourceFile& file, Import& import, const FormatOptions& options,
                              DeepSpeedEngine engine);

// What else changes a step: optimizers of other states or calls, gradients sent in another precision, timers.
void read_deepspeed_rest(ForeignKeys& in);

// A GPT-NeoX run: what tells its files, its model, and how it computes.

// Whether a text has keys that GPT-NeoX alone has, cut or otherwise wrong as it may be.
bool is_neox(std::string_view text);

// Puts "model" into the job; nothing where the files have no model. Asks for the vocabulary where it is not known.
void read_neox_model(ForeignKeys& in);

// Attention, and what is one kernel or several. `precision`: of the job. Whether attention keeps its scores in memory.
bool read_neox_kernels(ForeignKeys& in, std::string_view precision);

}  // namespace weft
