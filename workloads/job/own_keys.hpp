// Keys of a job that no file of another tool has, in such a file: as comments "# weft: key=value", or in JSON, which
// has none, as an object "weft" of texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

// Of each line that is such a comment, "key=value" as --set takes it.
std::vector<std::string> own_assignments(std::string_view text);

}  // namespace weft
