#include "workloads/formats/shell/variables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "sim/io/diagnostics.hpp"
#include "workloads/formats/shell/arithmetic.hpp"
#include "workloads/formats/shell/words.hpp"

namespace weft {
namespace {

constexpr std::size_t most_characters = std::size_t{1} << 23;  // far beyond any script; variables can double themselves
constexpr int deepest_expansion = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t name_length(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && is_name_character(text[length])) ++length;
    return length;
}

// The end of what a "(" or "{" at the front opens.
std::size_t closing(std::string_view text) {
    const char opening = text.front(), closing = opening == '{' ? '}' : ')';
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == opening) {
            ++open;
        } else if (text[i] == closing && --open == 0) {
            return i;
        }
    }
    return text.size();
}

}  // namespace

// One word, cut into fields as Bash does: what stands in quotes is not split.
class ShellExpansion {
  public:
    ShellExpansion(ShellVariables& variables, int line) : variables_(variables), line_(line) {}

    std::vector<std::string> fields(std::string_view word) {
        if (++variables_.depth_ > deepest_expansion) variables_.fail(line_, "expansions are nested too deeply");
        run(word, false);
        end_field();
        --variables_.depth_;
        return std::move(fields_);
    }

  private:
    void run(std::string_view word, bool quoted) {
        for (std::size_t i = 0; i < word.size();) {
            const char c = word[i];
            if (c == '\\' && i + 1 < word.size()) {
                const bool special = std::string_view("\"\\$`").find(word[i + 1]) != std::string_view::npos;
                if (quoted && !special) add("\\");
                add(word.substr(i + 1, 1));
                i += 2;
            } else if (c == '\'' && !quoted) {
                const std::size_t end = std::min(word.find('\'', i + 1), word.size());
                add(word.substr(i + 1, end - i - 1));
                i = end + 1;
            } else if (c == '"' && !quoted) {
                const std::size_t end = end_of_quotation(word, i);
                const std::string_view inside = word.substr(i + 1, end - i - 1);
                has_field_ = has_field_ || !is_empty_list(inside);
                run(inside, true);
                i = end + 1;
            } else if (c == '`') {
                const std::size_t end = std::min(word.find('`', i + 1), word.size());
                add(unknown_part("", false));
                i = end + 1;
            } else if (c == '$' && i + 1 < word.size()) {
                i += 1 + expansion(word.substr(i + 1), quoted);
            } else {
                add(word.substr(i, 1));
                ++i;
            }
        }
    }

    // "$@" and "${NAME[@]}" of nothing are no word, where other empty quotations are one.
    bool is_empty_list(std::string_view inside) const {
        if (inside == "$@" || inside == "${@}") return !variables_.is_set("@");
        if (!inside.starts_with("${") || !inside.ends_with("[@]}")) return false;
        const auto found = variables_.values_.find(inside.substr(2, inside.size() - 6));
        return found != variables_.values_.end() && found->second.empty();
    }

    static std::size_t end_of_quotation(std::string_view word, std::size_t begin) {
        for (std::size_t i = begin + 1; i < word.size(); ++i) {
            if (word[i] == '\\') {
                ++i;
            } else if (word[i] == '$' && i + 1 < word.size() && (word[i + 1] == '{' || word[i + 1] == '(')) {
                i += 1 + closing(word.substr(i + 1));
            } else if (word[i] == '"') {
                return i;
            }
        }
        return word.size();
    }

    // What stands behind a "$"; how many characters of it.
    std::size_t expansion(std::string_view text, bool quoted) {
        const char c = text.front();
        if (text.starts_with("((")) {
            const std::size_t end = closing(text);
            calculate(text.substr(2, end > 3 ? end - 3 : 0));
            return std::min(end + 1, text.size());
        }
        if (c == '(') {
            add(unknown_part("", false));
            return std::min(closing(text) + 1, text.size());
        }
        if (c == '{') {
            const std::size_t end = closing(text);
            braces(text.substr(1, end - 1), quoted);
            return std::min(end + 1, text.size());
        }
        if (c == '\'' && !quoted) return 0;  // $'...'
        const std::size_t length = is_digit(c) ? 1 : name_length(text);
        if (length > 0) {
            put(text.substr(0, length), quoted);
            return length;
        }
        if (c == '@' || c == '*') return put(text.substr(0, 1), quoted), 1;
        if (c == '#' || c == '?') return add("0"), 1;
        if (c == '$' || c == '!' || c == '-') return add(unknown_part("", false)), 1;
        add("$");
        return 0;
    }

    void calculate(std::string_view expression) {
        std::string unknown;
        const std::optional<long long> value = variables_.arithmetic(expression, line_, unknown);
        add(value ? fmt::format("{}", *value) : unknown_part(unknown, false));
    }

    // NAME, NAME[@], #NAME, NAME:-WORD and the like.
    void braces(std::string_view inside, bool quoted) {
        if (inside.starts_with('#')) return put_length(inside.substr(1));
        if (inside.starts_with('!')) return add(unknown_part("", false));
        std::size_t length = name_length(inside);
        if (length == 0 && (inside.starts_with('@') || inside.starts_with('*'))) length = 1;
        const std::string_view name = inside.substr(0, length);
        std::string_view rest = inside.substr(length);
        if (rest.starts_with("[@]") || rest.starts_with("[*]")) {
            if (rest.size() == 3) return put(name, quoted);
            rest.remove_prefix(3);
        } else if (rest.starts_with('[')) {
            return put_element(name, rest.substr(1, rest.find(']') - 1), quoted);
        }
        if (rest.empty()) return put(name, quoted);
        put_otherwise(name, rest, quoted);
    }

    void put_otherwise(std::string_view name, std::string_view rest, bool quoted) {
        const bool colon = rest.starts_with(':');
        if (colon) rest.remove_prefix(1);
        const char sign = rest.empty() ? '\0' : rest.front();
        const bool there = variables_.is_set(name) && !(colon && variables_.value(name).empty());
        const std::string_view word = rest.empty() ? rest : rest.substr(1);
        if (sign == '-' || sign == '=') {
            if (there) return put(name, quoted);
            if (sign == '=') variables_.assign(std::string(name), {variables_.text(word, line_)}, false);
            return put_word(word, quoted);
        }
        if (sign == '+') {
            if (there) put_word(word, quoted);
            return;
        }
        if (sign == '?') return put(name, quoted);
        if (colon || !variables_.is_set(name)) return put_unknown(name);
        put_changed(variables_.value(name), rest, name);
    }

    void put_word(std::string_view word, bool quoted) {
        for (const std::string& field : ShellExpansion(variables_, line_).fields(word)) {
            split(field, quoted);
            if (!quoted) end_field();
        }
    }

    // ${NAME,,} ${NAME^^} ${NAME%PATTERN} ${NAME#PATTERN}
    void put_changed(std::string value, std::string_view how, std::string_view name) {
        if (how == ",," || how == "^^") {
            std::ranges::transform(value, value.begin(), [&](unsigned char c) {
                return static_cast<char>(how == ",," ? std::tolower(c) : std::toupper(c));
            });
            return add(value);
        }
        const char sign = how.front();
        if ((sign != '%' && sign != '#') || has_unknown(value)) return put_unknown(name);
        how.remove_prefix(1);
        const bool longest = how.starts_with(sign);
        if (longest) how.remove_prefix(1);
        const std::string pattern = variables_.text(how, line_);
        for (std::size_t i = 0; i <= value.size(); ++i) {
            const std::size_t length = longest ? value.size() - i : i;  // of what goes
            const std::size_t begin = sign == '%' ? value.size() - length : 0;
            if (!matches_pattern(std::string_view(value).substr(begin, length), pattern)) continue;
            value.erase(begin, length);
            break;
        }
        add(value);
    }

    void put_unknown(std::string_view name) { add(unknown_part(variables_.is_set(name) ? "" : name, false)); }

    void put_length(std::string_view name) {
        const bool all = name.ends_with("[@]") || name.ends_with("[*]");
        if (all) name.remove_suffix(3);
        if (name.empty() || name == "@" || name == "*") return add("0");
        const auto found = variables_.values_.find(name);
        if (found == variables_.values_.end()) return add("0");
        add(fmt::format("{}", all ? found->second.size() : variables_.value(name).size()));
    }

    void put_element(std::string_view name, std::string_view index, bool quoted) {
        const auto found = variables_.values_.find(name);
        std::string unknown;
        const std::optional<long long> at = variables_.arithmetic(index, line_, unknown);
        if (found == variables_.values_.end() || !at) return put_unknown(name);
        if (*at >= 0 && static_cast<std::size_t>(*at) < found->second.size())
            split(found->second[static_cast<std::size_t>(*at)], quoted);
    }

    void put(std::string_view name, bool quoted) {
        const auto found = variables_.values_.find(name);
        if (found == variables_.values_.end()) {
            if (name != "@" && name != "*") add(unknown_part(name, true));
            return;
        }
        for (std::size_t i = 0; i < found->second.size(); ++i) {
            if (i > 0) end_field();
            split(found->second[i], quoted);
        }
    }

    void split(std::string_view text, bool quoted) {
        if (quoted) return add(text);
        for (const char c : text) {
            if (is_blank(c)) {
                end_field();
            } else {
                add(std::string_view(&c, 1));
            }
        }
    }

    void add(std::string_view text) {
        variables_.count(text.size(), line_);
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
        if (equals == std::string::npos || equals == 0) {
            throw ConfigError({Diagnostic{
                .file = "--variable", .key = {}, .message = "expected NAME=VALUE, got \"" + assignment + "\""}});
        }
        const std::string name = assignment.substr(0, equals);
        values_[name] = {assignment.substr(equals + 1)};
        given_[name] = true;
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

std::string ShellVariables::value(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string() : fmt::format("{}", fmt::join(found->second, " "));
}

std::vector<std::string> ShellVariables::names() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : values_) all.push_back(name);
    return all;
}

std::vector<std::string> ShellVariables::words(std::string_view word, int line) {
    return ShellExpansion(*this, line).fields(word);
}

std::string ShellVariables::text(std::string_view word, int line) {
    // Quoted as a whole, so that nothing is split; quotes in it keep their meaning.
    std::vector<std::string> fields = words(word, line);
    return fmt::format("{}", fmt::join(fields, " "));
}

std::optional<long long> ShellVariables::arithmetic(std::string_view expression, int line, std::string& unknown) {
    const std::string text = this->text(expression, line);
    if (has_unknown(text)) {
        unknown = unknown_names(text).front();
        return std::nullopt;
    }
    return shell_arithmetic(*this, text, unknown);
}

void ShellVariables::fail(int line, std::string message) const {
    throw ConfigError({Diagnostic{.file = file_, .line = line, .key = {}, .message = std::move(message)}});
}

void ShellVariables::count(std::size_t characters, int line) {
    characters_ += characters;
    if (characters_ > most_characters) fail(line, "its variables come to more text than any script has");
}

}  // namespace weft
