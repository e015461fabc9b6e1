// The manual has every command with its options, and every key of every kind of file.
#include "tools/manual/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "tests/tools/program.hpp"
#include "tools/command_line.hpp"
#include "tools/schema/reference.hpp"

namespace weft {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string dashed(std::string text) {
    for (std::size_t at = 0; (at = text.find('-', at)) != text.npos; at += 2) text.insert(at, "\\");
    return text;
}

std::string page_of(const std::string& name) {
    static const std::vector<ManPage> pages = man_pages();
    for (const ManPage& page : pages) {
        if (page.name == name) return page.text;
    }
    return "";
}

TEST(man_pages, every_command_has_one_with_all_its_options) {
    const std::string program = page_of("weft");
    for (const Command* const command : commands::all()) {
        EXPECT_THAT(program, HasSubstr("\n\\fB" + dashed(std::string(command->name)) + "\\fR\n"));
        const std::string page = page_of("weft-" + std::string(command->name));
        const CommandOptions declared = options_of(*command);
        for (const auto& option : declared.all.options()) {
            if (is_positional(declared, option->long_name())) continue;
            EXPECT_THAT(page, HasSubstr("\n\\fB" + dashed("--" + option->long_name()) + "\\fR")) << command->name;
        }
    }
}

TEST(man_pages, every_kind_of_file_has_one_with_all_its_keys) {
    for (const std::string& kind : reference_kinds()) {
        const std::string page = page_of("weft-" + kind);
        for (const auto& [path, record] : every_key(make_reference(kind))) {
            const std::string last = path.substr(path.rfind('.') + 1);
            const bool has =
                page.find("." + last + "\\fR\n") != page.npos || page.find("\\fB" + last + "\\fR\n") != page.npos;
            EXPECT_TRUE(has || last == "value" || last == "source" || last == "*") << kind << ": " << path;
        }
    }
}

// The page that teaches machine and device files has keys in its tables: "| `links.*.latency` | ...".
TEST(manual, keys_of_machines_and_devices_are_those_of_the_readers) {
    std::set<std::string> known;
    for (const std::string kind : {"machine", "device"}) {
        for (const auto& [path, record] : every_key(make_reference(kind))) {
            known.insert(std::regex_replace(path, std::regex("\\([a-z_]*\\)"), ""));
        }
    }
    std::istringstream page(test::read_file(WEFT_SOURCE_DIR "/tools/manual/machines-and-devices.md"));
    int keys = 0;
    for (std::string line; std::getline(page, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, std::regex("^\\| `([^`]*)` \\|"))) continue;
        EXPECT_TRUE(known.contains(match[1])) << match[1];
        ++keys;
    }
    EXPECT_GT(keys, 20);
}

TEST(man_pages, what_roff_would_take_as_its_own_is_escaped) {
    RoffPage page("weft-x", 1, "a page");
    page.section("DESCRIPTION");
    page.text(".begins with a dot, C:\\path, `bold` and 1 \xe2\x89\xa5 0\n\n  'quoted' example");
    EXPECT_THAT(page.page(), EndsWith(".SH DESCRIPTION\n"
                                      "\\&.begins with a dot, C:\\epath, \\fBbold\\fR and 1 \\[u2265] 0\n"
                                      ".PP\n.RS 4\n.nf\n\\&'quoted' example\n.fi\n.RE\n"));
}

}  // namespace
}  // namespace weft
