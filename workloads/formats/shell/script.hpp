// What a Bash script would run, found by reading it. Conditions are followed where they are known; where they are not,
// what depends on them is unknown.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "workloads/formats/format.hpp"
#include "workloads/formats/shell/variables.hpp"

namespace weft {

struct ShellWord {
    std::string text;  // with unknown_part()s
    int line = 0;
};

struct ShellCommand {
    std::vector<ShellWord> words;
    bool certain = true;  // not in a branch that may not be taken
};

struct ShellAssignment {
    std::string name;
    std::vector<ShellWord> words;
};

struct ShellScript {
    std::string file;
    std::vector<ShellCommand> commands;                   // but for those that only print or make folders
    std::vector<ShellAssignment> lists;                   // what variables were given that begins with a flag ("--...")
    std::vector<std::string> sourced;                     // files that it would read
    std::vector<std::pair<std::string, int>> directives;  // of Slurm
};

// `variables` stay as the script leaves them: another file may go on with them. Throws ConfigError.
ShellScript read_shell_script(const SourceFile& file, ShellVariables& variables);

}  // namespace weft
