// The files of one GPT-NeoX run: which they are, and all of them as one document.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

// Whether a text has keys that GPT-NeoX alone has, cut or otherwise wrong as it may be.
bool is_neox(std::string_view text);

// A key that a second file gives again.
struct RepeatedKey {
    Origin first, second;
};

struct NeoxFiles {
    Document document;  // with the first of repeated keys
    std::vector<RepeatedKey> repeated;
};

// GPT-NeoX puts its files together on the command line, a model beside the paths of a site, and takes '-' in a key for
// '_' (megatron/neox_arguments/arguments.py, from_ymls). Keys come with '_', places are those of the files. Throws
// ConfigError.
NeoxFiles merged_neox(std::span<const SourceFile> files);

}  // namespace weft
