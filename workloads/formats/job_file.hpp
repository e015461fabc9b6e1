// Job and model files, weft's own and those of other tools alike.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/transformer/transformer.hpp"
#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

struct OpenedJob {
    Document document;              // with the overrides
    std::vector<FormatNote> notes;  // on a file of another tool, or on what was assumed without one
};

// A job file with "key.path=value" overrides. Without a path the overrides say the machine and the model, and a common
// training run is assumed and noted: Megatron, bf16, 4 Mi tokens per step in sequences of 4,096. Throws ConfigError.
OpenedJob open_job(const std::filesystem::path& path, std::span<const std::string> overrides);

// What the overrides say of a file of another tool.
FormatOptions format_options(std::span<const std::string> overrides);

// The model of a name or path as it is written, which may extend another. Throws ConfigError.
Document open_model(std::string_view name);

// A shipped model, or the path of a model file or of a configuration that has one. Throws ConfigError.
Transformer load_model(std::string_view name);

}  // namespace weft
