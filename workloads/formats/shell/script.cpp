#include "workloads/formats/shell/script.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "workloads/formats/shell/condition.hpp"
#include "workloads/formats/shell/words.hpp"

namespace weft {
namespace {

constexpr int deepest_block = 64;
constexpr std::size_t most_commands = 20'000;

// How a stretch of the script is meant: run, left out, or perhaps run, because of the variable `why`.
struct Branch {
    Truth taken = Truth::yes;
    std::string why;
};

template <std::size_t Size>
bool is_in(std::string_view word, const std::array<std::string_view, Size>& words) {
    return std::ranges::find(words, word) != words.end();
}

bool is_shell_name(std::string_view text) {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
           std::ranges::all_of(text,
                               [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// The name of "NAME=..." or "NAME+=..."; empty if it is neither.
std::string_view assigned_name(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return {};
    std::string_view name = word.substr(0, equals);
    if (name.ends_with('+')) name.remove_suffix(1);
    return is_shell_name(name) ? name : std::string_view();
}

class ShellReader {
  public:
    ShellReader(const SourceFile& file, ShellVariables& variables) : variables_(variables) {
        script_.file = file.path;
        ShellTokens cut = cut_shell_text(file.path, file.text);
        tokens_ = std::move(cut.tokens);
        script_.directives = std::move(cut.directives);
    }

    ShellScript read() {
        while (at_ < tokens_.size()) {
            block({});
            ++at_;  // a word that closes what was not open
        }
        return std::move(script_);
    }

  private:
    static constexpr std::array<std::string_view, 7> closers{"then", "elif", "else", "fi", "do", "done", "esac"};

    bool at_word() const { return at_ < tokens_.size() && tokens_[at_].kind == ShellToken::Kind::word; }
    bool at_word(std::string_view text) const { return at_word() && tokens_[at_].text == text; }
    bool at_between() const { return at_ < tokens_.size() && tokens_[at_].kind == ShellToken::Kind::between; }
    bool at_between(std::string_view text) const { return at_between() && tokens_[at_].text == text; }
    int line() const { return at_ < tokens_.size() ? tokens_[at_].line : tokens_.empty() ? 1 : tokens_.back().line; }
    [[noreturn]] void fail(std::string message) const {
        throw ConfigError({Diagnostic{.file = script_.file, .line = line(), .key = {}, .message = std::move(message)}});
    }

    // Up to a word that closes a block or the ";;" of a case.
    void block(const Branch& branch) {
        if (++depth_ > deepest_block) fail("its blocks are nested too deeply");
        while (at_ < tokens_.size()) {
            if (at_between(";;")) break;
            if (at_between()) {
                ++at_;
            } else if (at_word() && is_in(tokens_[at_].text, closers)) {
                break;
            } else {
                statement(branch);
            }
        }
        --depth_;
    }

    void statement(const Branch& branch) {
        if (at_word("if")) return conditional(branch);
        if (at_word("case")) return choice(branch);
        if (at_word("for") || at_word("select")) return repetition(branch, true);
        if (at_word("while") || at_word("until")) return repetition(branch, false);
        if (at_word("{") || at_word("}") || at_word("!") || at_word("time")) {
            ++at_;
        } else if (at_word("function")) {
            at_ = std::min(at_ + 2, tokens_.size());
        } else if (at_word() && tokens_[at_].text.ends_with("()")) {
            ++at_;  // what a function does is read where it is defined
        } else {
            chain(branch);
        }
    }

    // --- if, case, for, while ---

    static Branch within(const Branch& outer, Truth taken, const std::string& why) {
        if (outer.taken == Truth::no || taken == Truth::no) return {Truth::no, {}};
        if (taken == Truth::unknown) return {Truth::unknown, why};
        return outer;
    }

    void conditional(const Branch& outer) {
        Truth earlier = Truth::no;  // whether a branch before was taken
        std::string why;
        do {
            ++at_;  // if, elif
            const ShellCondition condition = conditions(outer);
            if (at_word("then")) ++at_;
            Truth taken = condition.holds;
            if (earlier == Truth::yes) taken = Truth::no;
            if (earlier == Truth::unknown && taken == Truth::yes) taken = Truth::unknown;
            if (condition.holds == Truth::unknown && why.empty()) why = condition.why;
            block(within(outer, taken, why));
            if (taken == Truth::yes) earlier = Truth::yes;
            if (taken == Truth::unknown) earlier = Truth::unknown;
        } while (at_word("elif"));
        if (at_word("else")) {
            ++at_;
            const Truth taken = earlier == Truth::yes ? Truth::no : earlier == Truth::no ? Truth::yes : Truth::unknown;
            block(within(outer, taken, why));
        }
        if (at_word("fi")) ++at_;
    }

    void choice(const Branch& outer) {
        ++at_;
        const std::string subject = at_word() ? variables_.text(tokens_[at_].text, line()) : std::string();
        const int start = line();
        while (at_ < tokens_.size() && !at_word("in")) ++at_;
        if (at_ < tokens_.size()) ++at_;
        const std::string plain = without_unset(subject);
        const bool known = !has_unknown_but_unset(subject);
        const std::vector<std::string> names = unknown_names(subject);
        bool found = false;
        while (at_ < tokens_.size() && !at_word("esac")) {
            bool matches = false;
            while (at_ < tokens_.size() && !at_between(")") && !at_word("esac")) {
                if (at_word()) matches = matches || matches_pattern(plain, variables_.text(tokens_[at_].text, start));
                ++at_;
            }
            if (at_between(")")) ++at_;
            const Truth taken = !known ? Truth::unknown : matches && !found ? Truth::yes : Truth::no;
            found = found || matches;
            block(within(outer, taken, names.empty() ? "" : names.front()));
            if (at_word() && !at_word("esac") && is_in(tokens_[at_].text, closers)) ++at_;
            if (at_between(";;")) ++at_;
        }
        if (at_word("esac")) ++at_;
    }

    void repetition(const Branch& outer, bool counts) {
        ++at_;
        ShellCondition condition;
        if (counts) {
            const std::string name = at_word() && is_shell_name(tokens_[at_].text) ? tokens_[at_].text : "";
            while (at_ < tokens_.size() && !at_word("do")) ++at_;
            condition.why = name;
            if (!name.empty() && outer.taken != Truth::no) variables_.assign(name, {unknown_part(name, false)}, false);
            if (variables_.is_given(name)) condition.holds = Truth::yes;
        } else {
            condition = conditions(outer);
            if (condition.holds == Truth::yes) condition = {Truth::unknown, ""};
        }
        if (at_word("do")) ++at_;
        block(within(outer, condition.holds, condition.why));
        if (at_word("done")) ++at_;
    }

    // Up to "then" or "do".
    ShellCondition conditions(const Branch& outer) {
        ShellCondition result{Truth::yes, ""};
        std::string joined = "&&";
        while (at_ < tokens_.size() && !(at_word() && is_in(tokens_[at_].text, closers))) {
            if (at_between()) {
                if (at_between("&&") || at_between("||")) joined = tokens_[at_].text;
                ++at_;
                continue;
            }
            const std::size_t begin = at_;
            const ShellCondition next = test(outer);
            result = joined == "&&" ? both(result, next) : either(result, next);
            joined = "&&";
            if (at_ == begin) ++at_;
        }
        return result;
    }

    // One command of a condition.
    ShellCondition test(const Branch& outer) {
        bool negative = false;
        for (; at_word("!"); ++at_) negative = !negative;
        const ShellCondition result = plain_test(outer);
        return negative ? negated(result) : result;
    }

    ShellCondition plain_test(const Branch& outer) {
        if (!at_word("[") && !at_word("[[") && !at_word("test")) {
            const bool computes = at_word() && tokens_[at_].text.starts_with("((");
            if (computes) {
                std::string inside = tokens_[at_].text.substr(2);
                inside.resize(inside.size() < 2 ? 0 : inside.size() - 2);
                std::string why;
                const auto value = variables_.arithmetic(inside, line(), why);
                ++at_;
                return {!value ? Truth::unknown : *value != 0 ? Truth::yes : Truth::no, why};
            }
            if (at_word("true") || at_word("false"))
                return {tokens_[at_++].text == "true" ? Truth::yes : Truth::no, ""};
            command(outer);
            return {};  // whether a program succeeds is not known
        }
        const std::string end = tokens_[at_].text == "[[" ? "]]" : tokens_[at_].text == "[" ? "]" : "";
        ++at_;
        std::vector<std::string> words;
        while (at_ < tokens_.size() && !at_word(end) && !at_between("\n") && !at_between(";")) {
            if (end.empty() && at_between()) break;
            if (tokens_[at_].kind == ShellToken::Kind::between) {
                words.push_back(tokens_[at_].text);
            } else {
                words.push_back(variables_.text(tokens_[at_].text, line()));
            }
            ++at_;
        }
        if (at_word(end)) ++at_;
        return shell_test(words);
    }

    // --- commands ---

    // Commands joined by "&&" and "||": of a test before them depends whether they are run.
    void chain(const Branch& outer) {
        ShellCondition status{Truth::yes, ""};
        std::string joined;
        while (at_ < tokens_.size()) {
            Truth taken = Truth::yes;
            if (joined == "&&") taken = status.holds;
            if (joined == "||") taken = negated(status).holds;
            const std::size_t begin = at_;
            const Branch branch = within(outer, taken, status.why);
            const ShellCondition next =
                at_word("[") || at_word("[[") || at_word("test") || at_word("!") ? test(branch) : command(branch);
            if (taken == Truth::yes) status = next;
            if (at_ == begin) ++at_;
            if (!at_between("&&") && !at_between("||")) return;
            joined = tokens_[at_].text;
            while (at_between("&&") || at_between("||") || at_between("\n")) ++at_;
            if (at_word() && is_in(tokens_[at_].text, closers)) return;
        }
    }

    // A simple command; assumed to succeed.
    ShellCondition command(const Branch& branch) {
        static constexpr std::array<std::string_view, 5> declaring{"export", "local", "declare", "readonly", "typeset"};
        while (at_ < tokens_.size() && assignment(branch)) {
        }
        if (at_word() && is_in(tokens_[at_].text, declaring)) {
            ++at_;
            while (at_ < tokens_.size() && !at_between()) {
                if (!assignment(branch)) ++at_;
            }
        } else {
            call(branch);
        }
        return {Truth::yes, ""};
    }

    bool assignment(const Branch& branch) {
        const ShellToken& token = tokens_[at_];
        if (token.kind == ShellToken::Kind::between) return false;
        const std::string name(assigned_name(token.text));
        if (name.empty()) return false;
        const std::size_t equals = token.text.find('=');
        const bool append = token.text[equals - 1] == '+';
        ++at_;
        if (branch.taken == Truth::no) return true;
        if (branch.taken == Truth::unknown) {
            variables_.assign(name, {unknown_part(branch.why.empty() ? name : branch.why, false)}, append);
            return true;
        }
        std::vector<ShellWord> words =
            token.kind == ShellToken::Kind::array
                ? array(token)
                : std::vector{ShellWord{variables_.text(token.text.substr(equals + 1), token.line), token.line}};
        std::vector<std::string> values;
        for (ShellWord& word : words) {
            word.text = named_unknown(word.text, name);
            values.push_back(word.text);
        }
        keep_list(name, words);
        if (append && token.kind != ShellToken::Kind::array && variables_.is_set(name)) {
            variables_.assign(name, {variables_.value(name) + values.front()}, false);
        } else {
            variables_.assign(name, std::move(values), append);
        }
        return true;
    }

    std::vector<ShellWord> array(const ShellToken& token) {
        std::vector<ShellWord> words;
        for (const ShellToken& element : token.elements) {
            for (std::string& text : variables_.words(element.text, element.line))
                words.push_back({std::move(text), element.line});
        }
        return words;
    }

    void keep_list(const std::string& name, const std::vector<ShellWord>& words) {
        const auto flag = [](const ShellWord& word) {
            const std::size_t begin = word.text.find_first_not_of(" \t\r\n");
            return begin != std::string::npos && std::string_view(word.text).substr(begin).starts_with("--");
        };
        if (std::ranges::any_of(words, flag)) script_.lists.push_back({name, words});
    }

    void call(const Branch& branch) {
        ShellCommand command;
        command.certain = branch.taken == Truth::yes;
        while (at_ < tokens_.size() && !at_between()) {
            const ShellToken& token = tokens_[at_++];
            if (branch.taken == Truth::no) continue;
            for (std::string& text : variables_.words(token.text, token.line))
                command.words.push_back({std::move(text), token.line});
        }
        if (command.words.empty() || !worth_keeping(command, branch)) return;
        if (script_.commands.size() == most_commands) fail("has more commands than any script");
        script_.commands.push_back(std::move(command));
    }

    bool worth_keeping(const ShellCommand& command, const Branch& branch) {
        static constexpr std::array<std::string_view, 14> printing{
            "echo", "printf", "cat", "mkdir", "cd", "set", "exit", ":", "module", "pip", "rm", "cp", "sleep", "ls"};
        const std::string& name = command.words.front().text;
        if ((name == "source" || name == ".") && command.words.size() > 1)
            script_.sourced.push_back(command.words[1].text);
        if (name == "unset" || name == "read" || name == "getopts") {
            for (const ShellWord& word : command.words) {
                if (name == "unset" && branch.taken == Truth::yes) variables_.unset(word.text);
                if (name != "unset" && is_shell_name(word.text) && word.text != name)
                    variables_.assign(word.text, {unknown_part(word.text, false)}, false);
            }
            return false;
        }
        return !is_in(name, printing);
    }

    ShellVariables& variables_;
    ShellScript script_;
    std::vector<ShellToken> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

ShellScript read_shell_script(const SourceFile& file, ShellVariables& variables) {
    return ShellReader(file, variables).read();
}

}  // namespace weft
