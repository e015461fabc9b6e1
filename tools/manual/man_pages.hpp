// The manual: a page of the program, one of each subcommand, and one of each kind of file, from what the program knows.
#pragma once

#include <string>
#include <vector>

namespace weft {

struct ManPage {
    std::string name;  // "weft-simulate"
    int section;       // 1: commands, 5: files
    std::string text;  // in the man(7) language
};

std::vector<ManPage> man_pages();

}  // namespace weft
