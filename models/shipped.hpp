// Data files by name: compiled into the program, or a path the user gives.
#pragma once

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

// `name`: one of `files`, or the path of a file (contains '/' or ends in .json). `kind` ("model") is for the message.
// Throws ConfigError: unknown name (with the nearest ones), unreadable file, invalid JSON.
NamedDocument open_shipped(std::span<const embedded::File> files, std::string_view kind, std::string_view name);

std::vector<std::string> shipped_names(std::span<const embedded::File> files);  // in the files' (sorted) order

}  // namespace weft
