// What a shell may put at the end of a command line: commands, options, and the values that an option's or argument's
// placeholder stands for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// `words` follow "weft"; the last one, which may be empty, is to be completed. Empty where file names may follow, or
// where nothing is known. A key that waits for its value ends in "=".
std::vector<std::string> completions(std::span<const std::string> words);

// Completion scripts of shells (tools/manual/*.completion): each asks `weft completion words` what may follow, so that
// none grows old.
std::vector<std::string> shell_names();                      // "bash", "fish", "zsh"
std::string_view completion_script(std::string_view shell);  // one of shell_names()

}  // namespace weft
