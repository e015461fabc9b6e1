#include "workloads/formats/shell/shell.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/texts.hpp"

namespace weft {
namespace {

constexpr std::size_t most_characters = std::size_t{1} << 23;  // far beyond any script; variables can double themselves
constexpr int deepest_expansion = 32;

std::string_view inside(std::string_view part, std::size_t before, std::size_t behind) {
    return part.substr(before, part.size() - std::min(part.size(), before + behind));
}

bool is_in(char c, std::string_view characters) { return characters.find(c) != std::string_view::npos; }

// Whole numbers, names of variables, + - * / % and brackets. What is not known is no number (NaN); nor is what doubles
// do not hold exactly, far beyond what a script counts.
class Arithmetic {
  public:
    Arithmetic(const ShellVariables& variables, std::string_view text) : variables_(variables), text_(text) {}

    std::string result() {
        const double value = sum();
        const bool known = std::abs(value) < 9e15 && !take("") && at_ == text_.size();
        return known ? fmt::format("{:.0f}", value == 0 ? 0 : value) : unknown_part(unknown_);
    }

  private:
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    // The next character, if it is one of these; 0: none.
    char take(std::string_view characters) {
        at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
        const bool there = at_ < text_.size() && is_in(text_[at_], characters);
        return there ? text_[at_++] : '\0';
    }
    double sum() {
        double left = product();
        while (const char sign = take("+-")) left += sign == '+' ? product() : -product();
        return left;
    }
    double product() {
        double left = operand();
        while (const char sign = take("*/%")) {
            const double right = operand();
            left = sign == '*' ? left * right : sign == '/' ? std::trunc(left / right) : std::fmod(left, right);
        }
        return left;
    }
    double operand() {
        if (++depth_ > deepest_expansion) return unknown;  // and so is all around it
        double value = unknown;
        if (take("-")) {
            value = -operand();
        } else if (take("(")) {
            value = sum();
            if (!take(")")) value = unknown;
        } else {
            const std::size_t begin = at_;
            while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
            value = number(text_.substr(begin, at_ - begin));
        }
        --depth_;
        return value;
    }
    double number(std::string_view word) {
        std::string text(word);
        if (word.empty() || !is_digit(word.front())) {
            text = variables_.value(word);
            const std::vector<std::string> names = unknown_names(text);
            if (!variables_.is_set(word) || !names.empty()) unknown_ = names.empty() ? word : names.front();
        }
        const auto value = parse_as<long long>(text);
        return value ? static_cast<double>(*value) : unknown;
    }

    const ShellVariables& variables_;
    std::string_view text_;
    std::string unknown_;  // the variable that would have to be given
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

// One word, cut into fields as Bash does: what stands in quotes is not split.
class ShellVariables::Expansion {
  public:
    Expansion(ShellVariables& variables, int line) : variables_(variables), line_(line) {}

    std::vector<std::string> fields(std::string_view word) {
        if (++variables_.depth_ > deepest_expansion)
            refuse_file(variables_.file_, "expansions are nested too deeply", line_);
        run(word, false);
        end_field();
        --variables_.depth_;
        return std::move(fields_);
    }

  private:
    void run(std::string_view word, bool quoted) {
        for (std::size_t at = 0, end = 0; at < word.size(); at = end) {
            const bool plain = quoted && (word[at] == '\'' || word[at] == '"');
            end = plain ? at + 1 : std::min(shell_part_end(word, at), word.size());
            const std::string_view part = word.substr(at, end - at);
            const bool of_quotation = part == "$" && !quoted && word.substr(end).starts_with('\'');  // $'...'
            if (part.size() > 1) {
                put_part(part, quoted);
            } else if (!of_quotation) {
                add(part);
            }
        }
    }

    // An escape, a quotation or an expansion.
    void put_part(std::string_view part, bool quoted) {
        if (part.front() == '\\') {
            if (part.ends_with('\n')) return;  // the line goes on
            add(quoted && !is_in(part[1], "\"\\$`") ? part : part.substr(1));
        } else if (part.front() == '\'') {
            add(inside(part, 1, 1));
        } else if (part.front() == '"') {
            has_field_ = has_field_ || !is_empty_list(inside(part, 1, 1));
            run(inside(part, 1, 1), true);
        } else if (part.starts_with("$((")) {
            add(variables_.arithmetic(inside(part, 3, 2), line_));
        } else if (part.starts_with("${")) {
            put_braces(inside(part, 2, 1), quoted);
        } else if (part == "$#" || part == "$?") {
            add("0");
        } else if (part.front() == '`' || part.starts_with("$(") || part == "$$" || part == "$!" || part == "$-") {
            add(unknown_part(""));
        } else {
            put(part.substr(1), quoted);
        }
    }

    // "$@" and "${NAME[@]}" of nothing are no word, where other empty quotations are one.
    bool is_empty_list(std::string_view text) const {
        if (text == "$@" || text == "${@}") return !variables_.is_set("@");
        const std::string_view name = text.ends_with("[@]}") ? inside(text, 2, 4) : std::string_view();
        return variables_.is_set(name) && variables_.list(name).empty();
    }

    // NAME, NAME[@], NAME[1], #NAME[@], NAME:-WORD and the like; others are not known.
    void put_braces(std::string_view text, bool quoted) {
        if (text.starts_with('#') && text.ends_with("[@]"))
            return add(std::to_string(variables_.list(inside(text, 1, 3)).size()));
        const bool all = text.starts_with('@') || text.starts_with('*');
        const auto end = std::ranges::find_if_not(text, is_name_character);
        const std::string_view name(text.begin(), all ? text.begin() + 1 : end);
        std::string_view rest = text.substr(name.size());
        if (rest.starts_with("[@]") || rest.starts_with("[*]")) {
            rest.remove_prefix(3);
        } else if (rest.starts_with('[')) {
            return put_element(name, rest.substr(1, rest.find(']') - 1), quoted);
        }
        if (rest.empty()) return put(name, quoted);
        const bool colon = rest.starts_with(':');
        if (colon) rest.remove_prefix(1);
        const char sign = rest.empty() ? '\0' : rest.front();
        const std::string_view word = rest.substr(rest.empty() ? 0 : 1);
        const bool there = variables_.is_set(name) && !(colon && variables_.value(name).empty());
        if (sign == '?' || (there && (sign == '-' || sign == '='))) return put(name, quoted);
        if (sign == '=') variables_.assign(std::string(name), {variables_.text(word, line_)});
        if (sign == '-' || sign == '=' || (sign == '+' && there)) return put_word(word, quoted);
        if (sign != '+') put_unknown(name);
    }

    void put_word(std::string_view word, bool quoted) {
        const std::vector<std::string> fields = Expansion(variables_, line_).fields(word);
        for (const std::string& field : fields) {
            if (!quoted && &field != &fields.front()) end_field();
            split(field, quoted);
        }
    }

    void put_unknown(std::string_view name) { add(unknown_part(variables_.is_set(name) ? "" : name)); }

    void put_element(std::string_view name, std::string_view index, bool quoted) {
        const std::string at = variables_.arithmetic(index, line_);
        if (!variables_.is_set(name) || has_unknown(at)) return put_unknown(name);
        const std::vector<std::string>& list = variables_.list(name);
        if (const auto i = parse_as<std::size_t>(at); i && *i < list.size()) split(list[*i], quoted);
    }

    void put(std::string_view name, bool quoted) {
        if (!variables_.is_set(name) && name != "@" && name != "*") return add(unknown_part(name, true));
        const std::vector<std::string>& list = variables_.list(name);
        for (const std::string& text : list) {
            if (&text != &list.front()) end_field();
            split(text, quoted);
        }
    }

    void split(std::string_view text, bool quoted) {
        if (quoted) return add(text);
        for (const char& c : text) is_in(c, " \t\r\n") ? end_field() : add(std::string_view(&c, 1));
    }

    void add(std::string_view text) {
        variables_.characters_ += text.size();
        if (variables_.characters_ > most_characters)
            refuse_file(variables_.file_, "its variables come to more text than any script has", line_);
        field_ += text;
        has_field_ = true;
    }
    void end_field() {
        if (has_field_) fields_.push_back(std::move(field_));
        field_.clear();
        has_field_ = false;
    }

    ShellVariables& variables_;
    int line_;
    std::vector<std::string> fields_;
    std::string field_;
    bool has_field_ = false;
};

ShellVariables::ShellVariables(std::string file, std::span<const std::string> given) : file_(std::move(file)) {
    for (const std::string& assignment : given) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos || equals == 0)
            refuse_file("--variable", "expected NAME=VALUE, got \"" + assignment + "\"");
        const std::string name = assignment.substr(0, equals);
        values_[name] = {assignment.substr(equals + 1)};
        given_.insert(name);
    }
}

void ShellVariables::assign(const std::string& name, std::vector<std::string> values, bool append) {
    if (is_given(name)) return;
    std::vector<std::string>& to = values_[name];
    if (!append) to.clear();
    to.insert(to.end(), values.begin(), values.end());
}

void ShellVariables::unset(const std::string& name) {
    if (!is_given(name)) values_.erase(name);
}

const std::vector<std::string>& ShellVariables::list(std::string_view name) const {
    static const std::vector<std::string> none;
    const auto found = values_.find(name);
    return found == values_.end() ? none : found->second;
}

std::string ShellVariables::value(std::string_view name) const { return fmt::format("{}", fmt::join(list(name), " ")); }

std::vector<std::string> ShellVariables::words(std::string_view word, int line) {
    return Expansion(*this, line).fields(word);
}

std::string ShellVariables::text(std::string_view word, int line) {
    return fmt::format("{}", fmt::join(words(word, line), " "));
}

std::string ShellVariables::arithmetic(std::string_view expression, int line) {
    const std::string expanded = text(expression, line);
    const std::vector<std::string> unknown = unknown_names(expanded);
    return unknown.empty() ? Arithmetic(*this, expanded).result() : unknown_part(unknown.front());
}

}  // namespace weft
