// A file as one text.
#pragma once

#include <filesystem>
#include <string>

namespace weft {

std::string read_text(const std::filesystem::path& path);  // throws ConfigError: unreadable

}  // namespace weft
