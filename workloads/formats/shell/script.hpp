// What a Bash script would run, found by reading it. Conditions are followed where they are known; where they are not,
// what depends on them is unknown.
#pragma once

#include <string>
#include <vector>

#include "workloads/formats/format.hpp"
#include "workloads/formats/shell/variables.hpp"
#include "workloads/formats/shell/words.hpp"

namespace weft {

struct ShellCommand {
    std::vector<ShellWord> words;
    bool certain = true;  // not in a branch that may not be taken
};

struct ShellScript {
    std::string file;
    std::vector<ShellCommand> commands;         // but for those that only print or make folders
    std::vector<std::vector<ShellWord>> lists;  // what variables were given that begins with a flag ("--...")
    std::vector<std::string> sourced;           // files that it would read
    std::vector<ShellWord> directives;          // of Slurm
};

// `variables` stay as the script leaves them: another file may go on with them. Throws ConfigError.
ShellScript read_shell_script(const SourceFile& file, ShellVariables& variables);

}  // namespace weft
