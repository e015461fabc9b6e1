#include "workloads/formats/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/io/shipped.hpp"
#include "topologies/machine.hpp"
#include "topologies/measurements/lines.hpp"

namespace weft {

namespace embedded {
std::span<const File> format_tables();  // workloads/formats/*/*.json
}

bool take_count(Field& from, std::string_view key, Draft& to, std::string_view name) {
    if (!from.has(key)) return false;
    to.set(name, from.count(key), from.origin(key));
    return true;
}

bool take_flag(Field& from, std::string_view key, Draft& to, std::string_view name) {
    if (!from.has(key)) return false;
    to.set(name, from.flag(key), from.origin(key));
    return true;
}

void without_effect(Import& import, Field& from, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        if (from.has(key)) import.without_effect.push_back(from.origin(key));
    }
}

void unread_without_effect(Import& import, Field& from, std::span<const std::string> keys) {
    const std::vector<std::string> unread = from.unasked();
    for (const std::string& key : keys) {
        if (std::ranges::find(unread, key) != unread.end() && from.has(key))
            import.without_effect.push_back(from.origin(key));
    }
}

void unread_without_effect(Import& import, Field& from, std::string_view keys) {
    const std::vector<std::string_view> list = words(keys);
    unread_without_effect(import, from, std::vector<std::string>(list.begin(), list.end()));
}

void refuse_key(Import& import, Field& from, std::string_view key, std::string_view why) {
    if (from.has(key)) import.error(from.origin(key), std::string(why));
}

void warn_key(Import& import, Field& from, std::string_view key, std::string_view what) {
    if (from.has(key)) import.warn(from.origin(key), std::string(what));
}

void note_rest(Import& import, const Field& from) {
    for (const std::string& key : from.unasked()) {
        import.note(from.origin(key), "not known to weft, and left out");
    }
}

Document format_table(std::string_view name) { return open_shipped(embedded::format_tables(), "table", name).document; }

std::vector<std::string> texts(std::vector<Field> list) {
    std::vector<std::string> found;
    for (Field& each : list) found.push_back(each.as_text());
    return found;
}

void take_mistakes(Import& import, const Document& document) {
    try {
        document.check();
    } catch (const ConfigError& error) {
        for (const Diagnostic& each : error.diagnostics()) {
            import.error({.file = each.file, .line = each.line, .key = each.key}, each.message);
        }
    }
}

std::uint64_t ranks_of(const FormatOptions& options) {
    if (options.machine.empty() || options.nodes == 0) return 0;
    return std::uint64_t{options.nodes} * Machine::load(options.machine).info().accelerators_per_node;
}

bool overridden_by_user(const FormatOptions& options, std::string_view path) {
    return std::ranges::any_of(options.overrides, [&](std::string_view assignment) {
        return assignment.substr(0, assignment.find('=')) == path;
    });
}

}  // namespace weft
