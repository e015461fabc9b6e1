#include "tools/manual/manual.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/locale/utf.hpp>

#include <algorithm>

#include "sim/base/texts.hpp"
#include "tools/command_line.hpp"
#include "tools/schema/reference.hpp"
#include "tools/version.hpp"

namespace weft {
namespace {

constexpr std::size_t widest = 78;  // of a line of input: mandoc complains beyond 80

// Characters that mean something to roff or are none of ASCII; `this` becomes bold.
std::string escaped(std::string_view text) {
    std::string out;
    bool bold = false;
    for (auto at = text.begin(); at != text.end();) {
        const char first = *at;
        const auto character = boost::locale::utf::utf_traits<char>::decode(at, text.end());
        if (character >= 0x80) {
            out += fmt::format("\\[u{:04X}]", character);
        } else if (first == '\\') {
            out += "\\e";
        } else if (first == '-') {
            out += "\\-";
        } else if (first == '`') {
            bold = !bold;
            out += bold ? "\\fB" : "\\fR";
        } else {
            out += first;
        }
    }
    return bold ? out + "\\fR" : out;
}

// A line that begins with a dot or an apostrophe would be a request.
std::string guarded(const std::string& line) {
    return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

void end_with_links(RoffPage& page, const std::string& self) {
    std::string text;
    const auto add = [&](const std::string& name, int section) {
        if (name != self) text += fmt::format("{}`{}`({})", text.empty() ? "" : ", ", name, section);
    };
    add("weft", 1);
    if (self == "weft") {
        for (const Command* const command : commands::all()) add("weft-" + std::string(command->name), 1);
    }
    for (const std::string& kind : reference_kinds()) add("weft-" + kind, 5);
    page.section("SEE ALSO");
    page.text(text);
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
    for (const Command* const command : commands::all()) page.item(command->name, "", help_of(*command).summary);
    page.section("EXIT STATUS");
    for (const auto& [code, meaning] : exit_meanings) page.item(fmt::to_string(static_cast<int>(code)), "", meaning);
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
    const CommandHelp help = help_of(command);
    RoffPage page(name, 1, help.summary);
    page.section("SYNOPSIS");
    page.usage(help.usage);
    page.section("DESCRIPTION");
    page.text(help.details);
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

RoffPage::RoffPage(std::string_view name, int section, std::string_view purpose)
    : page_(fmt::format(".TH {} {} {} \"weft {}\" \"weft manual\"\n.SH NAME\n",
                        escaped(boost::to_upper_copy(std::string(name))), section, released, version)) {
    filled(fmt::format("{} - {}", name, purpose));
}

void RoffPage::section(std::string_view title) { page_ += fmt::format(".SH {}\n", title); }

void RoffPage::part(std::string_view title) { page_ += fmt::format(".SS {}\n", escaped(title)); }

void RoffPage::filled(std::string_view paragraph) {
    std::string line;
    const auto flush = [&] {
        if (!line.empty()) page_ += guarded(line) + '\n';
        line.clear();
    };
    const std::string text = escaped(paragraph);
    for (std::size_t begin = text.find_first_not_of(" \n"); begin < text.size();) {
        const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (!line.empty() && line.size() + 1 + word.size() > widest) flush();
        line += (line.empty() ? "" : " ") + word;
        begin = text.find_first_not_of(" \n", end);
        const bool starts = begin < text.size() && text[begin] >= 'A' && text[begin] <= 'Z';
        if (word.ends_with('.') && starts) flush();  // roff looks for ends of sentences at ends of lines
    }
    flush();
}

void RoffPage::lines(std::string_view text) {
    page_ += ".nf\n";
    for (const std::string_view line : parts_of(text, '\n')) page_ += guarded(escaped(line)) + '\n';
    page_ += ".fi\n";
}

void RoffPage::usage(std::string_view text) {
    for (const std::string_view line : parts_of(text, '\n')) {
        page_ += ".HP 4\n";
        filled(line);
    }
}

// Collects lines until their kind changes: an example, a paragraph, or nothing.
void RoffPage::text(std::string_view text) {
    enum class Kind { none, paragraph, example };
    std::string block;
    Kind kind = Kind::none;
    bool first = true;
    const auto flush = [&](Kind next) {
        if (kind == Kind::paragraph) {
            if (!first) page_ += ".PP\n";
            filled(block);
        } else if (kind == Kind::example) {
            page_ += first ? ".RS 4\n" : ".PP\n.RS 4\n";
            lines(std::string_view(block).substr(0, block.size() - 1));
            page_ += ".RE\n";
        }
        first = first && kind == Kind::none;
        block.clear();
        kind = next;
    };
    for (const std::string_view line : parts_of(text, '\n')) {
        const Kind next = line.empty() ? Kind::none : line.starts_with("  ") ? Kind::example : Kind::paragraph;
        const std::size_t colon = line.find(':');
        const bool heads = next == Kind::paragraph && line.front() >= 'A' && line.front() <= 'Z' &&
                           colon < line.find_first_of(" .,-") && kind == Kind::paragraph;  // "VALUES: ..."
        if (next != kind || heads) flush(next);
        block += std::string(next == Kind::example ? line.substr(2) : line) + '\n';
    }
    flush(Kind::none);
}

void RoffPage::item(std::string_view term, std::string_view placeholder, std::string_view text) {
    page_ += fmt::format(".TP\n\\fB{}\\fR", escaped(term));
    if (!placeholder.empty()) page_ += fmt::format(" \\fI{}\\fR", escaped(placeholder));
    page_ += '\n';
    filled(text);
}

std::vector<ManPage> man_pages() {
    std::vector<ManPage> pages{program_page()};
    for (const Command* const command : commands::all()) pages.push_back(command_page(*command));
    for (const std::string& kind : reference_kinds()) pages.push_back(file_page(kind));
    return pages;
}

}  // namespace weft
