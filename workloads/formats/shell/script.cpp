#include "workloads/formats/shell/shell.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/texts.hpp"

namespace weft {
namespace {

constexpr int deepest_block = 64;
constexpr std::size_t most_commands = 20'000;

using Holds = ShellCondition::Holds;
using Words = std::vector<ShellWord>;

bool is_in(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

bool is_shell_name(std::string_view text) {
    return !text.empty() && !is_digit(text.front()) && std::ranges::all_of(text, is_name_character);
}

// The name of "NAME=..." or "NAME+=..."; empty if it is neither.
std::string_view assigned_name(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return {};
    std::string_view name = word.substr(0, equals);
    if (name.ends_with('+')) name.remove_suffix(1);
    return is_shell_name(name) ? name : std::string_view();
}

bool begins_with_flag(const ShellWord& word) {
    const std::size_t begin = word.text.find_first_not_of(" \t\r\n");
    return begin != std::string::npos && std::string_view(word.text).substr(begin).starts_with("--");
}

class ShellReader {
  public:
    ShellReader(const SourceFile& file, ShellVariables& variables) : variables_(variables) {
        ShellText text = cut_shell_text(file.path, file.text);
        words_ = std::move(text.words);
        script_.file = file.path;
        script_.directives = std::move(text.directives);
    }

    ShellScript read() {
        while (at_ < words_.size()) {
            block(ShellCondition::always());
            ++at_;  // a word that closes what was not open
        }
        return std::move(script_);
    }

  private:
    bool at_end() const { return at_ >= words_.size(); }
    bool at(std::string_view text) const { return !at_end() && words_[at_].text == text; }
    bool at_between() const { return !at_end() && is_between_words(words_[at_].text); }
    bool at_closer() const {
        return !at_end() && is_in(words_[at_].text, {"then", "elif", "else", "fi", "do", "done", "esac"});
    }
    bool take(std::string_view text) {
        if (!at(text)) return false;
        ++at_;
        return true;
    }
    std::string take_text() {
        const ShellWord& word = words_[at_++];
        return variables_.text(word.text, word.line);
    }
    [[noreturn]] void fail(int line, std::string message) const { refuse_file(script_.file, std::move(message), line); }

    // Up to a word that closes a block or the ";;" of a case. `taken`: whether it is run.
    void block(const ShellCondition& taken) {
        if (++depth_ > deepest_block) fail(at_end() ? 1 : words_[at_].line, "its blocks are nested too deeply");
        while (!at_end() && !at(";;") && !at_closer()) {
            if (at_between()) {
                ++at_;
            } else {
                statement(taken);
            }
        }
        --depth_;
    }

    void statement(const ShellCondition& taken) {
        if (take("if")) return conditional(taken);
        if (take("case")) return perhaps("esac", {}, taken);
        if (take("for") || take("select")) return counted(taken);
        if (take("while") || take("until")) {
            const ShellCondition condition = conditions(taken);
            return perhaps("done", condition.holds == Holds::yes ? ShellCondition() : condition, taken);
        }
        if (take("{") || take("}") || take("time")) return;
        // What a function does is read where it is defined.
        if (take("function")) return void(at_ += at_end() ? 0 : 1);
        if (words_[at_].text.ends_with("()")) {
            ++at_;
        } else {
            chain(taken, ShellCondition::always());
        }
    }

    // --- if, case, for, while ---

    // A branch; `left` says whether one is still to be taken.
    void branch(ShellCondition& left, const ShellCondition& condition, const ShellCondition& outer) {
        block(both(both(left, condition), outer));
        left = both(left, negated(condition));
    }

    void conditional(const ShellCondition& outer) {
        ShellCondition left = ShellCondition::always();
        do {
            const ShellCondition condition = conditions(outer);
            take("then");
            branch(left, condition, outer);
        } while (take("elif"));
        if (take("else")) branch(left, ShellCondition::always(), outer);
        take("fi");
    }

    // What stands in a loop or a case may be run or not.
    void perhaps(std::string_view end, const ShellCondition& condition, const ShellCondition& outer) {
        while (!at_end() && !take(end)) {
            block(both(condition, outer));
            if (at(";;") || (at_closer() && !at(end))) ++at_;
        }
    }

    void counted(const ShellCondition& outer) {
        const std::string name = !at_end() && is_shell_name(words_[at_].text) ? words_[at_].text : "";
        while (!at_end() && !at("do")) ++at_;
        if (!name.empty() && outer.holds != Holds::no) variables_.assign(name, {unknown_part(name)});
        perhaps("done", {variables_.is_given(name) ? Holds::yes : Holds::unknown, name}, outer);
    }

    // Up to "then" or "do".
    ShellCondition conditions(const ShellCondition& outer) {
        ShellCondition result = ShellCondition::always();
        bool joined_by_or = false;
        while (!at_end() && !at_closer()) {
            if (at_between()) {
                if (at("&&") || at("||")) joined_by_or = at("||");
                ++at_;
                continue;
            }
            const ShellCondition next = chain(outer, {});
            result = joined_by_or ? either(result, next) : both(result, next);
            joined_by_or = false;
        }
        return result;
    }

    // --- commands ---

    // Commands joined by "&&" and "||", and how they end; a program ends as `program` says.
    ShellCondition chain(const ShellCondition& outer, const ShellCondition& program) {
        ShellCondition status = command(outer, program);
        while (at("&&") || at("||")) {
            const bool by_or = at("||");
            while (at("&&") || at("||") || at("\n")) ++at_;
            if (at_closer()) break;
            const ShellCondition next = command(both(by_or ? negated(status) : status, outer), program);
            status = by_or ? either(status, next) : both(status, next);
        }
        return status;
    }

    ShellCondition command(const ShellCondition& taken, const ShellCondition& program) {
        bool negative = false;
        while (take("!")) negative = !negative;
        const ShellCondition result = plain_command(taken, program);
        return negative ? negated(result) : result;
    }

    ShellCondition plain_command(const ShellCondition& taken, const ShellCondition& program) {
        if (take("true")) return ShellCondition::always();
        if (take("false")) return ShellCondition::never();
        if (take("[[")) return test("]]");
        if (take("[")) return test("]");
        if (take("test")) return test("");
        while (assignment(taken)) {
        }
        if (at_end() || !is_in(words_[at_].text, {"export", "local", "declare", "readonly", "typeset"})) {
            call(taken);
            return program;
        }
        for (++at_; !at_end() && !at_between();) at_ += assignment(taken) ? 0 : 1;
        return ShellCondition::always();
    }

    ShellCondition test(std::string_view closing) {
        std::vector<std::string> words;
        while (!at_end() && !take(closing) && !at("\n") && !at(";") && !(closing.empty() && at_between())) {
            words.push_back(at_between() ? words_[at_++].text : take_text());
        }
        return shell_test(words);
    }

    bool assignment(const ShellCondition& taken) {
        if (at_end()) return false;
        const ShellWord word = words_[at_];
        const std::string name(assigned_name(word.text));
        if (name.empty()) return false;
        ++at_;
        const std::size_t equals = word.text.find('=');
        const bool append = word.text[equals - 1] == '+', array = word.text.substr(equals + 1) == "(";
        Words values = array ? elements(word, taken) : Words();
        if (taken.holds == Holds::no) return true;
        if (taken.holds == Holds::unknown) {
            variables_.assign(name, {unknown_part(taken.why.empty() ? name : taken.why)}, append);
            return true;
        }
        if (!array) values.push_back({variables_.text(word.text.substr(equals + 1), word.line), word.line});
        std::vector<std::string> texts;
        for (ShellWord& value : values) {
            value.text = named_unknown(value.text, name);
            texts.push_back(value.text);
        }
        if (append && !array && variables_.is_set(name)) {
            variables_.assign(name, {variables_.value(name) + texts.front()});
        } else {
            variables_.assign(name, std::move(texts), append);
        }
        if (std::ranges::any_of(values, begins_with_flag)) script_.lists.push_back(std::move(values));
        return true;
    }

    Words elements(const ShellWord& array, const ShellCondition& taken) {
        Words words;
        for (; !take(")"); ++at_) {
            if (at_end()) fail(array.line, "the array \"" + array.text + "\" is not closed");
            if (!at_between() && taken.holds == Holds::yes) expand(words_[at_], words);
        }
        return words;
    }

    void expand(const ShellWord& word, Words& to) {
        for (std::string& text : variables_.words(word.text, word.line)) to.push_back({std::move(text), word.line});
    }

    void call(const ShellCondition& taken) {
        ShellCommand command{{}, taken.holds == Holds::yes};
        for (; !at_end() && !at_between(); ++at_) {
            if (taken.holds != Holds::no) expand(words_[at_], command.words);
        }
        if (command.words.empty() || !is_worth_keeping(command)) return;
        if (script_.commands.size() == most_commands)
            fail(command.words.front().line, "has more commands than any script");
        script_.commands.push_back(std::move(command));
    }

    bool is_worth_keeping(const ShellCommand& command) {
        const std::string& name = command.words.front().text;
        if ((name == "source" || name == ".") && command.words.size() > 1)
            script_.sourced.push_back(command.words[1].text);
        if (!is_in(name, {"unset", "read", "getopts"}))
            return !is_in(name, {"echo", "printf", "cat", "mkdir", "cd", "set", "exit", ":", "module", "pip", "rm",
                                 "cp", "sleep", "ls"});
        for (const ShellWord& word : command.words) {
            if (name == "unset" && command.certain) variables_.unset(word.text);
            if (name != "unset" && is_shell_name(word.text) && word.text != name)
                variables_.assign(word.text, {unknown_part(word.text)});
        }
        return false;
    }

    ShellVariables& variables_;
    ShellScript script_;
    Words words_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

ShellScript read_shell_script(const SourceFile& file, ShellVariables& variables) {
    return ShellReader(file, variables).read();
}

}  // namespace weft
