// Job and model files, weft's own and those of other tools.
#pragma once

#include <concepts>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/transformer/transformer.hpp"
#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"

namespace weft {

// Where a job comes from: a file, a text in place of one, or neither.
struct JobSource {
    JobSource() = default;
    template <std::convertible_to<std::filesystem::path> File>
    JobSource(const File& file) : path(file) {}  // NOLINT(google-explicit-constructor): the usual source

    std::filesystem::path path;         // of the file; of a text, its name, and from whose folder it names files
    std::optional<std::string> text{};  // of a job of weft's own or of another tool
    bool alone = false;                 // as in FormatOptions

    bool is_empty() const { return path.empty() && !text; }
    std::string read() const;  // throws ConfigError
};

struct OpenedJob {
    Document document;              // with the overrides
    std::vector<FormatNote> notes;  // on a file of another tool, or on what was assumed without one
};

// A job with "key.path=value" overrides. Of a model on a machine, and where the overrides alone say both, the rest is
// assumed and noted (assume_run). Throws ConfigError.
OpenedJob open_job(const JobSource& source, std::span<const std::string> overrides);

// Those that a file has as an object, as { "layout.tensor": 8 }.
std::vector<std::string> overrides_in(Field set);

// What the overrides say of a file of another tool.
FormatOptions format_options(std::span<const std::string> overrides);

// The model of a name or path as it is written, which may extend another. Throws ConfigError.
Document open_model(std::string_view name);

// What such a document says with what it extends, named after its file. Throws ConfigError.
Transformer transformer_of(Document document);

// A shipped model, or the path of a model file or of a configuration that has one. Throws ConfigError.
Transformer load_model(std::string_view name);

}  // namespace weft
