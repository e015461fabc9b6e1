// A file as one text.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace weft {

// What people write is shorter by far: longer ones are given by mistake, and a device may never end.
inline constexpr std::size_t longest_input = std::size_t{64} << 20;

// A gzip file as what it holds. Throws ConfigError: unreadable, or of more than `most` bytes.
std::string read_text(const std::filesystem::path& path, std::size_t most = longest_input);

}  // namespace weft
