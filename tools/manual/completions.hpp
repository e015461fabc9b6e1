// What a shell may put at the end of a command line: commands, options, and the values that an option's or argument's
// placeholder stands for.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace weft {

// `words` follow "weft"; the last one, which may be empty, is to be completed. Empty where file names may follow, or
// where nothing is known. A key that waits for its value ends in "=".
std::vector<std::string> completions(std::span<const std::string> words);

}  // namespace weft
