#include "tools/manual/roff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "tools/version.hpp"

namespace weft {
namespace {

constexpr std::size_t widest = 78;  // of a line of input: mandoc complains beyond 80

// The bytes of a character in UTF-8 by its first one, and the bits of the first that count.
struct Lead {
    std::size_t bytes;
    std::uint32_t bits;
};
Lead lead_of(unsigned char first) {
    if (first < 0x80) return {1, first};
    if (first < 0xe0) return {2, first & 0x1fU};
    if (first < 0xf0) return {3, first & 0x0fU};
    return {4, first & 0x07U};
}

// Characters that mean something to roff or are none of ASCII; `this` becomes bold.
std::string escaped(std::string_view text) {
    std::string out;
    bool bold = false;
    for (std::size_t at = 0; at < text.size();) {
        const auto [bytes, bits] = lead_of(static_cast<unsigned char>(text[at]));
        if (bytes > 1) {
            std::uint32_t point = bits;
            for (std::size_t i = 1; i < bytes; ++i)
                point = point << 6U | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
            out += fmt::format("\\[u{:04X}]", point);
        } else if (text[at] == '\\') {
            out += "\\e";
        } else if (text[at] == '-') {
            out += "\\-";
        } else if (text[at] == '`') {
            bold = !bold;
            out += bold ? "\\fB" : "\\fR";
        } else {
            out += text[at];
        }
        at += bytes;
    }
    return bold ? out + "\\fR" : out;
}

// A line that begins with a dot or an apostrophe would be a request.
std::string guarded(const std::string& line) {
    return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

template <typename Use>
void for_each_line(std::string_view text, Use use) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        use(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

std::string capitals(std::string_view text) {
    std::string out;
    for (const char c : text) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return out;
}

}  // namespace

RoffPage::RoffPage(std::string_view name, int section, std::string_view purpose)
    : page_(fmt::format(".TH {} {} {} \"weft {}\" \"weft manual\"\n.SH NAME\n", escaped(capitals(name)), section,
                        released, version)) {
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
    for_each_line(text, [&](std::string_view line) { page_ += guarded(escaped(line)) + '\n'; });
    page_ += ".fi\n";
}

void RoffPage::usage(std::string_view text) {
    for_each_line(text, [&](std::string_view line) {
        page_ += ".HP 4\n";
        filled(line);
    });
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
            lines(block);
            page_ += ".RE\n";
        }
        first = first && kind == Kind::none;
        block.clear();
        kind = next;
    };
    for_each_line(text, [&](std::string_view line) {
        const Kind next = line.empty() ? Kind::none : line.starts_with("  ") ? Kind::example : Kind::paragraph;
        const std::size_t colon = line.find(':');
        const bool heads = next == Kind::paragraph && line.front() >= 'A' && line.front() <= 'Z' &&
                           colon < line.find_first_of(" .,-") && kind == Kind::paragraph;  // "VALUES: ..."
        if (next != kind || heads) flush(next);
        block += std::string(next == Kind::example ? line.substr(2) : line) + '\n';
    });
    flush(Kind::none);
}

void RoffPage::item(std::string_view term, std::string_view placeholder, std::string_view text) {
    page_ += fmt::format(".TP\n\\fB{}\\fR", escaped(term));
    if (!placeholder.empty()) page_ += fmt::format(" \\fI{}\\fR", escaped(placeholder));
    page_ += '\n';
    filled(text);
}

}  // namespace weft
