// Writes a whole file or nothing: to a temporary beside it, then rename. Throws std::runtime_error with the reason.
#pragma once

#include <filesystem>
#include <string_view>

namespace weft {

void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace weft
