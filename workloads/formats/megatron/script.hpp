// Arguments of Megatron-LM in launch scripts of Bash and lists of flags.
#pragma once

#include <span>

#include "workloads/formats/megatron/keys.hpp"
#include "workloads/formats/shell/script.hpp"

namespace weft {

// What the launch in the files is given, with the variables that they set one after another. Notes go to `import`.
MegatronInput megatron_script_arguments(std::span<const SourceFile> files, const FormatOptions& options,
                                        Import& import);

}  // namespace weft
