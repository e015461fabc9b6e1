// Data files by name: compiled into the program, or a path the user gives.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"
#include "sim/io/embedded.hpp"

namespace weft {

struct NamedDocument {
    std::string name;  // of the shipped file, or the path's file name without its extension
    Document document;
};

bool is_path(std::string_view name);  // contains '/' or ends in .json; no shipped name does

// `name`: one of `files`, or a path; nothing for an unknown name. Throws ConfigError: unreadable file, invalid JSON.
std::optional<NamedDocument> find_shipped(std::span<const embedded::File> files, std::string_view name);

// The same, but an unknown name is a ConfigError with the nearest ones. `kind` ("model") is for the message.
NamedDocument open_shipped(std::span<const embedded::File> files, std::string_view kind, std::string_view name);

std::vector<std::string> shipped_names(std::span<const embedded::File> files);  // in the files' (sorted) order

}  // namespace weft
