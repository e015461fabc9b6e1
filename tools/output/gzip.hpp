// Compression for files that other tools open.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// A gzip file of `text`, without name and date: the same text gives the same bytes.
std::string gzip(std::string_view text);

}  // namespace weft
