#include "tools/manual/man_pages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/command_line.hpp"
#include "tools/manual/roff.hpp"
#include "tools/schema/key_tables.hpp"
#include "tools/schema/reference.hpp"

namespace weft {
namespace {

std::string see_also(const std::string& self) {
    std::string text;
    const auto add = [&](const std::string& name, int section) {
        if (name != self) text += fmt::format("{}`{}`({})", text.empty() ? "" : ", ", name, section);
    };
    add("weft", 1);
    if (self == "weft") {
        for (const Command* const command : commands::all()) add("weft-" + std::string(command->name), 1);
    }
    for (const std::string& kind : reference_kinds()) add("weft-" + kind, 5);
    return text;
}

void end_with_links(RoffPage& page, const std::string& self) {
    page.section("SEE ALSO");
    page.text(see_also(self));
}

void add_exits(RoffPage& page) {
    page.section("EXIT STATUS");
    for (const auto& [code, meaning] : exit_meanings()) page.item(fmt::to_string(static_cast<int>(code)), "", meaning);
}

ManPage program_page() {
    RoffPage page("weft", 1, "simulator of distributed transformer training");
    page.section("SYNOPSIS");
    page.usage("weft COMMAND [arguments]\nweft COMMAND --help\nweft --version");
    page.section("DESCRIPTION");
    page.text(
        "weft simulates training steps of a transformer on a real machine: how long a step takes, where the time "
        "goes, what crosses which link, and whether it fits in memory.\n\n"
        "Results go to standard output, messages and progress to standard error. Quantities are in SI units: seconds "
        "and bytes.");
    page.section("COMMANDS");
    for (const Command* const command : commands::all()) page.item(command->name, "", command->summary);
    add_exits(page);
    page.section("EXAMPLES");
    page.text(
        "  weft simulate --machine dgx-h100 --nodes 16 --model llama3-8b --set zero=1\n"
        "  weft plan job.json --write-job best.json\n"
        "  weft collective all_reduce --machine frontier --ranks 64 --sizes 1K:1G:4");
    end_with_links(page, "weft");
    return {"weft", 1, page.page()};
}

ManPage command_page(const Command& command) {
    const std::string name = "weft-" + std::string(command.name);
    RoffPage page(name, 1, command.summary);
    page.section("SYNOPSIS");
    page.usage(command.usage);
    if (!command.details.empty()) {
        page.section("DESCRIPTION");
        page.text(command.details);
    }
    page.section("OPTIONS");
    const CommandOptions declared = options_of(command);
    for (const auto& option : declared.all.options()) {
        if (is_positional(declared, option->long_name())) continue;
        const bool takes_value = option->semantic()->max_tokens() > 0;
        page.item("--" + option->long_name(), takes_value ? option->semantic()->name() : "", option->description());
    }
    end_with_links(page, name);
    return {name, 1, page.page()};
}

// What a kind of file is, as its page says first.
std::string what_is(std::string_view kind) {
    if (kind == "job") return "what is trained, where, and with which layout";
    if (kind == "machine") return "nodes, links, network and communication libraries";
    if (kind == "device") return "what an accelerator computes at which pace";
    return "sizes of a transformer";
}

// How the command line assigns its keys, if it does.
std::string assigned_as(std::string_view kind) {
    if (kind == "device") return "";
    return fmt::format(" On a command line: --set {}KEY=VALUE.", kind == "job" ? "" : std::string(kind) + ".");
}

ManPage file_page(const std::string& kind) {
    const std::string name = "weft-" + kind;
    RoffPage page(name, 5, fmt::format("{} files of weft: {}", kind, what_is(kind)));
    page.section("DESCRIPTION");
    page.text(fmt::format(
        "A JSON object; comments are allowed. Quantities are texts with a unit, as \"25 GB/s\", \"200 Gbit/s\", "
        "\"2.4 us\" or \"64 GiB\". A key that is unknown is an error. `weft schema {0}` prints the same as a JSON "
        "Schema, from which editors complete and check.\n\n"
        "A * in a key stands for a name of one's own, [] for every element of a list.{1}",
        kind, assigned_as(kind)));
    page.section("KEYS");
    for (const KeyTable& table : key_tables(make_reference(kind))) {
        if (!table.path.empty()) {
            page.part(table.path + (table.kind.empty() ? "" : fmt::format(" (kind {})", table.kind)));
        }
        for (const KeyRow& row : table.rows) {
            const std::string otherwise = row.otherwise.empty()         ? ""
                                          : row.otherwise == "required" ? " Required."
                                                                        : " Default: " + row.otherwise + ".";
            const std::string_view stop = row.meaning.ends_with('.') ? "" : ".";
            page.item(row.key, "", fmt::format("{}: {}{}{}", row.takes, row.meaning, stop, otherwise));
        }
    }
    end_with_links(page, name);
    return {name, 5, page.page()};
}

}  // namespace

std::vector<ManPage> man_pages() {
    std::vector<ManPage> pages{program_page()};
    for (const Command* const command : commands::all()) pages.push_back(command_page(*command));
    for (const std::string& kind : reference_kinds()) pages.push_back(file_page(kind));
    return pages;
}

}  // namespace weft
