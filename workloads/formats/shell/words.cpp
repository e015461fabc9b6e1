#include "workloads/formats/shell/words.hpp"

#include <algorithm>
#include <cctype>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

constexpr char unset_mark = '\x01', unsure_mark = '\x02', mark_end = '\x03';

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "NAME=" or "NAME+=", and nothing else.
bool opens_array(std::string_view word) {
    if (!word.ends_with('=')) return false;
    word.remove_suffix(1);
    if (word.ends_with('+')) word.remove_suffix(1);
    return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) == 0 &&
           std::ranges::all_of(word, is_name);
}

class ShellCutter {
  public:
    ShellCutter(const std::string& file, std::string_view text) : file_(file), text_(text) {}

    ShellTokens cut() {
        while (at_ < text_.size()) next(result_.tokens);
        return std::move(result_);
    }

  private:
    [[noreturn]] void fail(int line, std::string message) const {
        throw ConfigError({Diagnostic{.file = file_, .line = line, .key = {}, .message = std::move(message)}});
    }
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    char take() {
        const char c = text_[at_++];
        if (c == '\n') ++line_;
        return c;
    }
    bool continues() const { return peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n')); }
    void skip_continuation() {
        while (take() != '\n') {
        }
    }

    void between(std::vector<ShellToken>& to, std::size_t length) {
        to.push_back({ShellToken::Kind::between, std::string(text_.substr(at_, length)), line_, {}});
        for (std::size_t i = 0; i < length; ++i) take();
    }

    void next(std::vector<ShellToken>& to) {
        const char c = peek();
        if (is_space(c)) {
            take();
        } else if (continues()) {
            skip_continuation();
        } else if (c == '\n') {
            between(to, 1);
            skip_documents();
        } else if (c == '#') {
            comment();
        } else if (c == '<' || c == '>' || (c == '&' && peek(1) == '>')) {
            redirection(to);
        } else if (c == '(' && peek(1) == '(' && !follows_flag(to)) {
            arithmetic(to);
        } else if (c == ')' || (c == '(' && !follows_flag(to))) {
            between(to, 1);
        } else if (c == ';' || c == '&' || c == '|') {
            between(to, peek(1) == c ? 2 : 1);
        } else {
            word(to);
        }
    }

    // In lists of arguments "--moe-layer-freq ([0]*3+[1]*58)" stands without quotes.
    static bool follows_flag(const std::vector<ShellToken>& to) {
        return !to.empty() && to.back().kind == ShellToken::Kind::word && to.back().text.starts_with("--");
    }

    void comment() {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        constexpr std::string_view mark = "#SBATCH ";
        const std::string_view text = text_.substr(at_, end - at_);
        if (text.starts_with(mark)) result_.directives.emplace_back(text.substr(mark.size()), line_);
        at_ = end;
    }

    void redirection(std::vector<ShellToken>& to) {
        // The "2" of "2>&1".
        if (at_ > 0 && !to.empty() && to.back().kind == ShellToken::Kind::word &&
            std::isdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0 && to.back().text.size() == 1) {
            to.pop_back();
        }
        const bool document = peek() == '<' && peek(1) == '<' && peek(2) != '<';
        while (peek() == '<' || peek() == '>' || peek() == '&' || (document && peek() == '-')) take();
        while (is_space(peek())) take();
        std::vector<ShellToken> target;
        if (peek() != '\n' && at_ < text_.size() && peek() != '(') word(target);
        if (!document || target.empty()) return;
        std::string end = target.front().text;
        std::erase_if(end, [](char c) { return c == '"' || c == '\'' || c == '\\'; });
        documents_.push_back(std::move(end));
    }

    void skip_documents() {
        for (const std::string& end : documents_) {
            while (at_ < text_.size()) {
                const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
                std::string_view line = text_.substr(at_, stop - at_);
                while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
                while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
                at_ = std::min(stop + 1, text_.size());
                ++line_;
                if (line == end) break;
            }
        }
        documents_.clear();
    }

    // "((...))" as one word.
    void arithmetic(std::vector<ShellToken>& to) {
        const int line = line_;
        std::string text;
        int open = 0;
        do {
            if (at_ == text_.size()) fail(line, "\"((\" is not closed");
            if (peek() == '(') ++open;
            if (peek() == ')') --open;
            text += take();
        } while (open > 0);
        to.push_back({ShellToken::Kind::word, std::move(text), line, {}});
    }

    void word(std::vector<ShellToken>& to) {
        const int line = line_;
        std::string text;
        int open = 0;
        while (at_ < text_.size()) {
            const char c = peek();
            if (continues()) {
                skip_continuation();
                continue;
            }
            if (c == '(' && opens_array(text)) return array(to, std::move(text), line);
            if (is_space(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>') {
                if (open == 0 || c == '\n') break;
            }
            if (c == ')' && open == 0) break;
            if (c == '(') ++open;
            if (c == ')') --open;
            part(text, line);
        }
        if (text.empty() && at_ < text_.size()) take();  // nothing that a word can begin with
        to.push_back({ShellToken::Kind::word, std::move(text), line, {}});
    }

    // One character, or all of a quotation or an expansion.
    void part(std::string& text, int line) {
        const char c = peek();
        if (c == '\\') {
            text += take();
            if (at_ < text_.size()) text += take();
        } else if (c == '\'' || c == '"' || c == '`') {
            quotation(text, line);
        } else if (c == '$' && (peek(1) == '{' || peek(1) == '(')) {
            text += take();
            enclosed(text, peek(), peek() == '{' ? '}' : ')', line);
        } else {
            text += take();
        }
    }

    void quotation(std::string& text, int line) {
        const char quote = peek();
        text += take();
        while (true) {
            if (at_ == text_.size()) fail(line, "a quotation is not closed");
            const char c = peek();
            if (c == quote) break;
            if (quote == '"' && continues()) {
                skip_continuation();
            } else if (quote != '\'' && c == '\\') {
                text += take();
                if (at_ < text_.size()) text += take();
            } else if (quote == '"' && c == '$' && (peek(1) == '{' || peek(1) == '(')) {
                text += take();
                enclosed(text, peek(), peek() == '{' ? '}' : ')', line);
            } else {
                text += take();
            }
        }
        text += take();
    }

    void enclosed(std::string& text, char opening, char closing, int line) {
        int open = 0;
        do {
            if (at_ == text_.size()) fail(line, "an expansion is not closed");
            const char c = peek();
            if (c == '\\') {
                text += take();
                if (at_ < text_.size()) text += take();
                continue;
            }
            if (opening == '(' && c == '\'') {
                quotation(text, line);
                continue;
            }
            if (c == opening) ++open;
            if (c == closing) --open;
            text += take();
        } while (open > 0);
    }

    void array(std::vector<ShellToken>& to, std::string name, int line) {
        take();
        ShellToken array{ShellToken::Kind::array, std::move(name), line, {}};
        while (true) {
            if (at_ == text_.size()) fail(line, "the array \"" + array.text + "(\" is not closed");
            const char c = peek();
            if (c == ')') break;
            if (is_space(c) || c == '\n') {
                take();
            } else if (continues()) {
                skip_continuation();
            } else if (c == '#') {
                comment();
            } else {
                word(array.elements);
            }
        }
        take();
        to.push_back(std::move(array));
    }

    const std::string& file_;
    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    std::vector<std::string> documents_;  // ends of here-documents that begin behind this line
    ShellTokens result_;
};

}  // namespace

ShellTokens cut_shell_text(const std::string& file, std::string_view text) { return ShellCutter(file, text).cut(); }

std::string unknown_part(std::string_view name, bool unset) {
    return (unset ? unset_mark : unsure_mark) + std::string(name) + mark_end;
}

std::vector<std::string> unknown_names(std::string_view word) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] != unset_mark && word[i] != unsure_mark) continue;
        const std::size_t end = std::min(word.find(mark_end, i), word.size());
        names.emplace_back(word.substr(i + 1, end - i - 1));
        i = end;
    }
    return names;
}

bool has_unknown(std::string_view word) {
    return word.find(unset_mark) != std::string_view::npos || has_unknown_but_unset(word);
}

bool has_unknown_but_unset(std::string_view word) { return word.find(unsure_mark) != std::string_view::npos; }

std::string without_unset(std::string_view word) {
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] == unset_mark) {
            i = std::min(word.find(mark_end, i), word.size());
        } else {
            text += word[i];
        }
    }
    return text;
}

std::string named_unknown(std::string_view word, std::string_view name) {
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
        text += word[i];
        if (word[i] == unsure_mark && i + 1 < word.size() && word[i + 1] == mark_end) text += name;
    }
    return text;
}

bool matches_pattern(std::string_view text, std::string_view pattern) {
    std::size_t t = 0, p = 0, star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

}  // namespace weft
