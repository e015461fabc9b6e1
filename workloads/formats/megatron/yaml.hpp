// Arguments of Megatron-LM in YAML: of its functional tests, and of Primus, where files extend one another.
#pragma once

#include <span>

#include "workloads/formats/megatron/keys.hpp"

namespace weft {

// model_config.yaml: MODEL_ARGS and ENV_VARS.
MegatronInput megatron_test_arguments(const SourceFile& file, const FormatOptions& options, Import& import);
// A model or an experiment of Primus; what it extends is read from beside it, or is among `files`. Throws ConfigError
// for files that extend themselves or are not there.
MegatronInput primus_arguments(std::span<const SourceFile> files, const FormatOptions& options, Import& import);

}  // namespace weft
