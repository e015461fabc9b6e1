// Completion scripts of shells: each asks `weft completion words` what may follow, so that none grows old.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

std::vector<std::string> shell_names();  // "bash", "fish", "zsh"

std::string_view completion_script(std::string_view shell);  // one of shell_names()

}  // namespace weft
