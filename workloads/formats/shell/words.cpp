#include "workloads/formats/shell/shell.hpp"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>
#include <utility>

#include "sim/base/texts.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

constexpr char unset_mark = '\x01', unsure_mark = '\x02', mark_end = '\x03';
constexpr std::size_t nowhere = std::string_view::npos;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
char at_or_none(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

// "NAME=" or "NAME+=", and nothing else.
bool opens_array(std::string_view word) {
    if (!word.ends_with('=')) return false;
    word.remove_suffix(word.ends_with("+=") ? 2 : 1);
    return !word.empty() && !is_digit(word.front()) && std::ranges::all_of(word, is_name_character);
}

// Behind what the bracket at `at` opens.
std::size_t bracket_end(std::string_view text, std::size_t at) {
    const char opening = text[at], closing = opening == '{' ? '}' : ')';
    int open = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '\'' && opening == '(') {
            i = text.find('\'', i + 1);
            if (i == nowhere) break;
        } else if (text[i] == opening) {
            ++open;
        } else if (text[i] == closing && --open == 0) {
            return i + 1;
        }
    }
    return nowhere;
}

class ShellCutter {
  public:
    ShellCutter(const std::string& file, std::string_view text) : file_(file), text_(text) {}

    ShellText cut() {
        while (at_ < text_.size()) next();
        return std::move(result_);
    }

  private:
    char peek(std::size_t ahead = 0) const { return at_or_none(text_, at_ + ahead); }
    bool continues() const { return text_.substr(at_).starts_with("\\\n") || text_.substr(at_).starts_with("\\\r\n"); }
    void skip_continuation() { go_to(text_.find('\n', at_) + 1); }
    void go_to(std::size_t end) {
        line_ += static_cast<int>(std::ranges::count(text_.substr(at_, end - at_), '\n'));
        at_ = end;
    }
    void put(std::size_t end) {
        result_.words.push_back({std::string(text_.substr(at_, end - at_)), line_});
        go_to(end);
    }
    std::size_t checked(std::size_t end, const char* what, int line) const {
        if (end != nowhere) return end;
        refuse_file(file_, std::string(what) + " is not closed", line);
    }

    void next() {
        const char c = peek();
        if (is_space(c)) {
            go_to(at_ + 1);
        } else if (continues()) {
            skip_continuation();
        } else if (c == '\n') {
            put(at_ + 1);
            skip_documents();
        } else if (c == '#') {
            comment();
        } else if (c == '<' || c == '>' || (c == '&' && peek(1) == '>')) {
            redirection();
        } else if (c == ')' || (c == '(' && !follows_flag())) {
            put(at_ + 1);
        } else if (c == ';' || c == '&' || c == '|') {
            put(at_ + (peek(1) == c ? 2 : 1));
        } else {
            word();
        }
    }

    // In lists of arguments "--moe-layer-freq ([0]*3+[1]*58)" stands without quotes.
    bool follows_flag() const { return !result_.words.empty() && result_.words.back().text.starts_with("--"); }

    void comment() {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        constexpr std::string_view mark = "#SBATCH ";
        const std::string_view text = text_.substr(at_, end - at_);
        if (text.starts_with(mark)) result_.directives.push_back({std::string(text.substr(mark.size())), line_});
        at_ = end;
    }

    void redirection() {
        std::vector<ShellWord>& words = result_.words;
        // The "2" of "2>&1".
        if (at_ > 0 && is_digit(text_[at_ - 1]) && !words.empty() && words.back().text.size() == 1) words.pop_back();
        const bool document = peek() == '<' && peek(1) == '<' && peek(2) != '<';
        while (peek() == '<' || peek() == '>' || peek() == '&' || (document && peek() == '-')) go_to(at_ + 1);
        while (is_space(peek())) go_to(at_ + 1);
        if (at_ == text_.size() || peek() == '\n' || peek() == '(') return;
        word();
        std::string target = std::move(words.back().text);
        words.pop_back();
        std::erase_if(target, [](char c) { return c == '"' || c == '\'' || c == '\\'; });
        if (document) documents_.push_back(std::move(target));
    }

    void skip_documents() {
        for (const std::string& end : documents_) {
            for (bool ended = false; !ended && at_ < text_.size();) {
                const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
                ended = trimmed(text_.substr(at_, stop - at_)) == end;
                go_to(std::min(stop + 1, text_.size()));
            }
        }
        documents_.clear();
    }

    void word() {
        ShellWord word{{}, line_};
        int open = 0;
        while (at_ < text_.size()) {
            const char c = peek();
            if (continues()) {
                skip_continuation();
                continue;
            }
            if (c == '\n' || (open == 0 && std::string_view(" \t\r;&|<>)").find(c) != nowhere)) break;
            const bool array = c == '(' && opens_array(word.text);
            open += c == '(' ? 1 : c == ')' ? -1 : 0;
            const std::size_t end =
                checked(shell_part_end(text_, at_), c == '$' ? "an expansion" : "a quotation", word.line);
            word.text += text_.substr(at_, end - at_);
            go_to(end);
            if (array) break;
        }
        result_.words.push_back(std::move(word));
    }

    const std::string& file_;
    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    std::vector<std::string> documents_;  // ends of here-documents that begin behind this line
    ShellText result_;
};

using Holds = ShellCondition::Holds;

// Words between "&&" and "||" of "[ ... ]", each expanded. Of what the script never sets Bash takes nothing.
ShellCondition comparison(std::span<const std::string> words) {
    ShellCondition yes = ShellCondition::always(), unknown;
    for (; !words.empty() && words[0] == "!"; words = words.subspan(1)) yes = negated(yes);
    const auto is = [&](bool holds) { return holds ? yes : negated(yes); };
    std::vector<std::string> plain;
    bool known = true;
    for (const std::string& word : words) {
        UnknownParts parts = unknown_parts(word);
        if (unknown.why.empty() && !parts.names.empty()) unknown.why = parts.names.front();
        known = known && parts.all_unset;
        plain.push_back(std::move(parts.rest));
    }
    if (!known) return unknown;
    if (plain.size() < 2) return is(!plain.empty() && !plain[0].empty());
    if (plain.size() == 2 && (plain[0] == "-z" || plain[0] == "-n")) return is(plain[1].empty() == (plain[0] == "-z"));
    if (plain.size() != 3) return {};
    const std::string& how = plain[1];
    const bool pattern = plain[2].find_first_of("*?[") != std::string::npos;
    if (!pattern && (how == "=" || how == "==" || how == "!=")) return is((plain[0] == plain[2]) == (how != "!="));
    const auto a = parse_as<long long>(plain[0]), b = parse_as<long long>(plain[2]);
    if (!a || !b) return unknown;
    for (const auto& [name, holds] : {std::pair("-eq", *a == *b),
                                      {"-ne", *a != *b},
                                      {"-lt", *a < *b},
                                      {"-ge", *a >= *b},
                                      {"-gt", *a > *b},
                                      {"-le", *a <= *b}}) {
        if (how == name) return is(holds);
    }
    return {};
}

}  // namespace

ShellText cut_shell_text(const std::string& file, std::string_view text) { return ShellCutter(file, text).cut(); }

bool is_between_words(std::string_view word) {
    return !word.empty() && word.size() <= 2 && word.find_first_not_of(";&|()\n") == nowhere;
}

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t shell_part_end(std::string_view text, std::size_t at) {
    const char c = text[at], next = at_or_none(text, at + 1);
    if (c == '\\') return std::min(at + (text.substr(at).starts_with("\\\r\n") ? 3 : 2), text.size());
    if (c == '\'' || c == '`') {
        const std::size_t end = text.find(c, at + 1);
        return end == nowhere ? nowhere : end + 1;
    }
    if (c == '$' && (next == '(' || next == '{')) return bracket_end(text, at + 1);
    if (c == '$' && !is_digit(next) && is_name_character(next)) {
        do ++at;
        while (is_name_character(at_or_none(text, at + 1)));
        return at + 1;
    }
    if (c == '$' && (is_digit(next) || (next != '\0' && std::string_view("@*#?$!-").find(next) != nowhere)))
        return at + 2;
    if (c != '"') return at + 1;
    for (++at; at < text.size() && text[at] != '"';) {
        at = text[at] == '\\' || text[at] == '$' ? shell_part_end(text, at) : at + 1;
    }
    return at < text.size() ? at + 1 : nowhere;
}

std::string unknown_part(std::string_view name, bool unset) {
    return (unset ? unset_mark : unsure_mark) + std::string(name) + mark_end;
}

UnknownParts unknown_parts(std::string_view word) {
    UnknownParts parts;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] != unset_mark && word[i] != unsure_mark) {
            parts.rest += word[i];
            continue;
        }
        parts.all_unset = parts.all_unset && word[i] == unset_mark;
        const std::size_t end = std::min(word.find(mark_end, i), word.size());
        parts.names.emplace_back(word.substr(i + 1, end - i - 1));
        i = end;
    }
    return parts;
}

std::vector<std::string> unknown_names(std::string_view word) { return unknown_parts(word).names; }

bool has_unknown(std::string_view word) {
    return word.find(unset_mark) != nowhere || word.find(unsure_mark) != nowhere;
}

std::string named_unknown(std::string_view word, std::string_view name) {
    return boost::replace_all_copy(std::string(word), unknown_part(""), unknown_part(name));
}

ShellCondition negated(ShellCondition of) {
    if (of.holds != Holds::unknown) of.holds = of.holds == Holds::yes ? Holds::no : Holds::yes;
    return of;
}

ShellCondition both(const ShellCondition& a, const ShellCondition& b) {
    if (a.holds == Holds::no || b.holds == Holds::no) return ShellCondition::never();
    return a.holds == Holds::unknown ? a : b;
}

ShellCondition either(const ShellCondition& a, const ShellCondition& b) {
    return negated(both(negated(a), negated(b)));
}

ShellCondition shell_test(std::span<const std::string> words) {
    ShellCondition result = ShellCondition::never(), part = ShellCondition::always();
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= words.size(); ++i) {
        const bool ends = i == words.size(), by_or = !ends && (words[i] == "||" || words[i] == "-o");
        if (!ends && !by_or && words[i] != "&&" && words[i] != "-a") continue;
        part = both(part, comparison(words.subspan(begin, i - begin)));
        begin = i + 1;
        if (!ends && !by_or) continue;
        result = either(result, part);
        part = ShellCondition::always();
    }
    return result;
}

}  // namespace weft
