// Data files by name: compiled into the program, or a path the user gives.
#pragma once

#include <filesystem>
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

// "owner/name" as on the Hugging Face hub, rather than a path of the file system.
bool may_have_owner(std::string_view name);

// The file that people call so: by its name or one that its "also" lists, whatever the capitals and separators, with an
// owner before it ("meta-llama/Llama-2-7b-hf") and with "hf" or "base" behind; nullptr if there is none.
const embedded::File* find_called(std::span<const embedded::File> files, std::string_view said);

// What a name said in a file of `folder` means: a shipped file's name, a path, or itself where it is neither. A file
// that is there goes before what a name might mean. Throws ConfigError for a name with an owner that is neither.
std::string meant(std::span<const embedded::File> files, std::string_view kind, std::string_view said,
                  const std::filesystem::path& folder);

// `name`: what one of `files` is called, or a path; nothing for an unknown name. Throws ConfigError: unreadable file,
// invalid JSON.
std::optional<NamedDocument> find_shipped(std::span<const embedded::File> files, std::string_view name);

// The same, but an unknown name is a ConfigError with the nearest ones. `kind` ("model") is for the message.
NamedDocument open_shipped(std::span<const embedded::File> files, std::string_view kind, std::string_view name);

// Names of those of `files` that are called most like it, best first.
std::vector<std::string> nearest_shipped(std::span<const embedded::File> files, std::string_view said);

std::vector<std::string> shipped_names(std::span<const embedded::File> files);  // in the files' (sorted) order

}  // namespace weft
