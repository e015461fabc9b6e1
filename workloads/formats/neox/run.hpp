// A GPT-NeoX run: which files it is, all of them as one document, its model, and how it computes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "workloads/formats/keys.hpp"

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

// Puts "model" into the job; nothing where the files have no model. Asks for the vocabulary where it is not known.
void read_neox_model(ForeignKeys& in);

// Attention, and what is one kernel or several. `precision`: of the job. Whether attention keeps its scores in memory.
bool read_neox_kernels(ForeignKeys& in, std::string_view precision);

}  // namespace weft
