#include "sim/io/extends.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/document_state.hpp"

namespace weft {
namespace {

bool ends_step(std::string_view path, std::size_t at) {
    return at == path.size() || path[at] == '.' || path[at] == '[' || path[at] == ']';
}

// The length of the first step: of the longest key of `object` that the path begins with, or up to the next mark.
std::size_t first_step(const Value& object, std::string_view path) {
    std::size_t longest = 0;
    for (const Member& member : object.members) {
        const std::string_view key = member.key;
        if (key.size() > longest && path.starts_with(key) && ends_step(path, key.size())) longest = key.size();
    }
    return longest > 0 ? longest : std::min(path.find_first_of(".[]"), path.size());
}

// Takes the first `length` characters off, and the marks up to the next step.
std::string take_step(std::string_view& path, std::size_t length) {
    const std::string step(path.substr(0, length));
    path.remove_prefix(length);
    if (path.starts_with(']')) path.remove_prefix(1);
    if (path.starts_with('.') || path.starts_with('[')) {
        path.remove_prefix(1);
        if (path.empty()) path = std::string_view(".");  // an empty step is still to come
    }
    return step;
}

std::size_t element_row(const Value& list, const std::string& step) {
    const auto index = parse_as<std::size_t>(step);
    if (!index || *index >= list.members.size()) {
        refuse_path(list.path,
                    "has no element \"" + step + "\": it is a list of " + std::to_string(list.members.size()));
    }
    return list.members[*index].value;
}

// The row of a member, added as null if the object lacks it.
std::size_t member_row(std::vector<Value>& values, std::size_t object, const std::string& key) {
    if (const Member* member = values[object].find(key)) return member->value;
    values[object].members.push_back({.key = key, .key_offset = overridden, .value = values.size()});
    // What an assignment leaves out is missing where the object stands.
    values.push_back({.path = member_path(values[object].path, key), .offset = values[object].offset});
    return values.size() - 1;
}

// A text becomes an object that extends what it names.
void extend_named(std::vector<Value>& values, std::size_t row) {
    Value name = values[row];
    Value object{.kind = ValueKind::object,
                 .members = {{.key = "extends", .key_offset = name.offset, .value = values.size()}},
                 .path = name.path};
    name.path = member_path(name.path, "extends");
    values[row] = std::move(object);
    values.push_back(std::move(name));
}

enum class Texts : bool { are_refused, are_names };

std::size_t follow(std::vector<Value>& values, std::size_t row, std::string_view path, Texts texts) {
    const std::string_view whole = path;
    while (!path.empty()) {
        if (values[row].kind == ValueKind::null) values[row].kind = ValueKind::object;
        if (texts == Texts::are_names && values[row].kind == ValueKind::text) extend_named(values, row);
        if (texts == Texts::are_names && values[row].find("extends") != nullptr) {
            return member_row(values, row, std::string(path));
        }
        const std::size_t length = first_step(values[row], path);
        if (length == 0) refuse_path(whole, "expected KEY.PATH=VALUE, got an empty key");
        const std::string step = take_step(path, length);
        const Value& value = values[row];
        if (value.kind == ValueKind::list) {
            row = element_row(value, step);
        } else if (value.kind == ValueKind::object) {
            row = member_row(values, row, step);
        } else {
            refuse_path(member_path(value.path, step), "cannot be set: " + value.path + " is " + shown(value));
        }
    }
    return row;
}

}  // namespace

void refuse_path(std::string_view key, std::string message) {
    throw ConfigError(
        {Diagnostic{.file = std::string(override_name), .key = std::string(key), .message = std::move(message)}});
}

std::size_t row_at(std::vector<Value>& values, std::size_t from, std::string_view path) {
    if (path.empty()) refuse_path(path, "expected KEY.PATH=VALUE, got an empty key");
    return follow(values, from, path, Texts::are_names);
}

std::size_t row_within(std::vector<Value>& values, std::size_t from, std::string_view path) {
    return follow(values, from, path, Texts::are_refused);
}

namespace {

constexpr std::string_view extends_key = "extends";
constexpr std::array<std::string_view, 2> figures{"nominal", "value"};  // what a figure with remarks is itself

std::string_view text_of(const std::vector<Value>& values, const Value& object, std::string_view key) {
    const Member* member = object.find(key);
    return member == nullptr ? std::string_view{} : std::string_view(values[member->value].text);
}

struct Merge {
    std::vector<Value>& values;

    // The members of `base` that `delta` leaves as they are become its own.
    void merge(std::size_t delta, std::size_t base) {
        std::vector<Member> merged;
        for (const Member& member : std::vector<Member>(values[base].members)) {
            const Member* said = values[delta].find(member.key);
            if (said == nullptr) {
                merged.push_back(member);
            } else if (values[said->value].kind != ValueKind::null) {
                Member changed = *said;
                changed.value = combined(changed.value, member.value);
                merged.push_back(std::move(changed));
            }
        }
        for (const Member& member : values[delta].members) {
            const bool is_new = values[base].find(member.key) == nullptr;
            if (!is_new || values[member.value].kind == ValueKind::null) continue;
            drop_nulls(member.value);
            merged.push_back(member);
        }
        values[delta].members = std::move(merged);
    }

    // Gives what `path` leads to within `object` a value.
    void put(std::size_t object, std::string_view path, std::size_t value) {
        const std::size_t row = row_within(values, object, path);
        if (values[value].kind == ValueKind::null) return remove(row);
        values[row] = Value(values[combined(value, row)]);
    }

    // The row of what `delta` makes of `base`.
    std::size_t combined(std::size_t delta, std::size_t base) {
        if (values[base].kind != ValueKind::object) return delta;
        if (values[delta].kind == ValueKind::object) {
            const std::string_view kind = text_of(values, values[delta], "kind");
            if (kind.empty() || kind == text_of(values, values[base], "kind")) {
                values[delta].asked.clear();
                if (delta != base) merge(delta, base);
            } else {
                drop_nulls(delta);
            }
            return delta;
        }
        if (values[delta].kind == ValueKind::list) return delta;
        for (const std::string_view figure : figures) {
            if (values[base].find(figure) == nullptr) continue;
            Value whole = values[base];
            whole.offset = values[delta].offset;
            const auto member = std::ranges::find(whole.members, figure, &Member::key);
            member->value = delta;
            values.push_back(std::move(whole));
            return values.size() - 1;
        }
        return delta;
    }

    // Where there is nothing to remove.
    void drop_nulls(std::size_t row) {
        if (values[row].kind != ValueKind::object) return;
        std::erase_if(values[row].members,
                      [this](const Member& member) { return values[member.value].kind == ValueKind::null; });
        for (const Member& member : values[row].members) drop_nulls(member.value);
    }

    void remove(std::size_t row) {
        for (Value& value : values) {
            if (value.kind != ValueKind::object) continue;
            std::erase_if(value.members, [row](const Member& member) { return member.value == row; });
        }
    }
};

bool is_path_of_keys(std::string_view key) { return key.find_first_of(".[") != std::string_view::npos; }

}  // namespace

struct Extension {
    Field object;
    const FindBase& find;
    std::vector<std::string>& chain;  // of names that extend one another, to here

    Document::State& state() const { return *object.state_; }

    // A path is meant from the folder of the file that says it.
    std::string base_name() const {
        Field named = object;
        const std::string name = named.text(extends_key);
        if (!is_path(name)) return name;
        const Value& value = state().values[object.row_];
        const std::size_t offset = state().values[value.find(extends_key)->value].offset;
        const std::string file = offset == overridden ? state().texts.front().name : state().text_at(offset).name;
        const std::filesystem::path path = (std::filesystem::path(file).parent_path() / name).lexically_normal();
        std::error_code none;
        return may_have_owner(name) && !std::filesystem::is_regular_file(path, none) ? name : path.string();
    }

    void refuse(std::string message) const {
        Field wrong = object;
        wrong.error(extends_key, std::move(message));
        state().values[object.row_].reported = true;  // what is missing of it is noise
    }

    std::optional<Document> base(const std::string& name) const {
        if (std::ranges::find(chain, name) != chain.end()) {
            refuse("\"" + name + "\" extends itself");
            return std::nullopt;
        }
        try {
            Document document = find(name);
            chain.push_back(name);
            Extension{document.root(), find, chain}.apply();
            document.check();
            return document;
        } catch (const ConfigError& error) {
            Field wrong = object;
            error_at(wrong, extends_key, error);
            state().values[object.row_].reported = true;
            return std::nullopt;
        }
    }

    // Members whose keys are paths are taken out, to be put where the paths lead.
    std::vector<Member> take_paths(std::size_t base_row) const {
        std::vector<Member> paths;
        std::erase_if(state().values[object.row_].members, [&](const Member& member) {
            if (!is_path_of_keys(member.key) || state().values[base_row].find(member.key) != nullptr) return false;
            paths.push_back(member);
            return true;
        });
        return paths;
    }

    std::optional<std::string> apply() const {
        if (!object.has(extends_key)) return std::nullopt;
        const std::string name = base_name();
        if (name.empty()) {
            if (object.is_text(extends_key)) refuse("expected a name, got \"\"");
            return std::nullopt;
        }
        const std::optional<Document> found = base(name);
        if (!found) return std::nullopt;
        std::vector<Value>& values = state().values;
        const std::size_t base_row = state().take(*found->state_, values[object.row_].path);
        if (values[base_row].kind != ValueKind::object) {
            refuse("\"" + name + "\" is no object");
            return std::nullopt;
        }
        const std::vector<Member> paths = take_paths(base_row);
        Merge merge{values};
        merge.merge(object.row_, base_row);
        std::erase_if(values[object.row_].members, [](const Member& member) { return member.key == extends_key; });
        for (const Member& member : paths) put(merge, member);
        return std::filesystem::path(name).stem().string();
    }

    void put(Merge& merge, const Member& member) const {
        try {
            merge.put(object.row_, member.key, member.value);
        } catch (const ConfigError& error) {
            for (const Diagnostic& inner : error.diagnostics()) {
                state().report(member.key_offset, inner.key, inner.message);
            }
        }
    }
};

std::optional<std::string> extend(Field object, const FindBase& find) {
    std::vector<std::string> chain;
    return Extension{std::move(object), find, chain}.apply();
}

NamedDocument open_extended(std::span<const embedded::File> files, std::string_view kind, std::string_view name) {
    NamedDocument file = open_shipped(files, kind, name);
    extend(file.document.root(), [&](const std::string& base) { return open_shipped(files, kind, base).document; });
    return file;
}

std::string changed_name(std::string_view base) { return std::string(base) + ", changed"; }

}  // namespace weft
