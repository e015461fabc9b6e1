#include "workloads/formats/keys.hpp"

#include <fmt/ranges.h>

#include "sim/io/shipped.hpp"
#include "topologies/machine.hpp"

namespace weft {

namespace embedded {
std::span<const File> format_tables();  // workloads/formats/*/*.json
}

namespace {

using Sections = std::map<std::string, KnownKeys, std::less<>>;

Sections sections_of(const std::string& program) {
    Sections sections;
    Document document = format_table(program + "_keys");
    Field root = document.root();
    for (const std::string& name : root.keys()) {
        KnownKeys& section = sections[name];
        if (root.is_object(name)) {
            Field keys = root.object(name);
            for (const std::string& key : keys.keys()) section.in_order.emplace_back(key, keys.text(key));
        } else {
            for (const std::string& key : texts(root.list(name))) section.in_order.emplace_back(key, "");
        }
        section.by_name.insert(section.in_order.begin(), section.in_order.end());
    }
    document.check();
    return sections;
}

}  // namespace

const KnownKeys& known_keys(std::string_view program, std::string_view section) {
    static const std::map<std::string, Sections, std::less<>> programs = [] {
        std::map<std::string, Sections, std::less<>> all;
        for (const std::string name : {"deepspeed", "megatron", "nemo", "neox", "torchtitan"})
            all.emplace(name, sections_of(name));
        return all;
    }();
    return programs.find(program)->second.find(section)->second;
}

bool ForeignKeys::take_count(std::string_view key, std::string_view path) {
    if (has(key)) put(path, keys.count(key), key);
    return has(key);
}

bool ForeignKeys::take_flag(std::string_view key, std::string_view path) {
    if (has(key)) put(path, keys.flag(key), key);
    return has(key);
}

void ForeignKeys::refuse(std::string_view key, std::string why) {
    if (has(key)) import.error(origin(key), std::move(why));
}

void ForeignKeys::warn(std::string_view key, std::string what) {
    if (has(key)) import.warn(origin(key), std::move(what));
}

void ForeignKeys::tell(const KnownKeys& messages, FormatNote::Severity severity) {
    for (const auto& [key, message] : messages.in_order) {
        if (!says_nothing(keys, key)) import.notes.push_back({severity, origin(key), message});
    }
}

void ForeignKeys::pass_over(const KnownKeys& known) {
    for (const auto& [key, what] : known.in_order) {
        if (has(key)) import.without_effect.push_back(origin(key));
    }
}

void ForeignKeys::pass_over_unread(const KnownKeys& known) {
    const std::vector<std::string> unread = keys.unasked();
    for (const auto& [key, what] : known.in_order) {
        if (std::ranges::find(unread, key) != unread.end() && has(key)) import.without_effect.push_back(origin(key));
    }
}

bool says_nothing(Field object, std::string_view key) {
    if (!object.has(key)) return true;
    constexpr std::string_view nothing[] = {"false", "False", "0", "0.0", "", "none", "None", "null", "[]", "{}"};
    std::string json = object.member(key).as_json();
    std::erase(json, '"');
    return std::ranges::find(nothing, json) != std::end(nothing);
}

void note_rest(Import& import, const Field& from) {
    for (const std::string& key : from.unasked()) import.note(from.origin(key), "not known to weft, and left out");
}

void copy_member(Field& from, std::string_view key, Draft& to, const std::string& name, const Origin* place) {
    const Origin origin = place == nullptr ? from.origin(key) : *place;
    if (!from.is_object(key)) return to.set_json(name, from.member(key).as_json(), origin);
    Field inner = from.object(key);
    Draft& object = to.object(name, origin);
    for (const std::string& each : inner.keys()) copy_member(inner, each, object, each, place);
}

Document format_table(std::string_view name) { return open_shipped(embedded::format_tables(), "table", name).document; }

std::vector<std::string> texts(std::vector<Field> list) { return list_of<std::string>(list, &Field::as_text); }

void take_mistakes(Import& import, const Document& document) {
    try {
        document.check();
    } catch (const ConfigError& error) {
        for (const Diagnostic& each : error.diagnostics())
            import.error({.file = each.file, .line = each.line, .key = each.key}, each.message);
    }
}

std::uint64_t ranks_of(const FormatOptions& options) {
    if (options.gpus > 0) return options.gpus;
    if (options.machine.empty() || options.nodes == 0) return 0;
    return std::uint64_t{options.nodes} * Machine::load(options.machine).info().accelerators_per_node;
}

double number_said(const FormatOptions& options, std::string_view path) {
    double said = 0;
    for (const std::string_view assignment : options.overrides) {
        const std::size_t equals = assignment.find('=');
        if (assignment.substr(0, equals) != path) continue;
        said = parse_as<std::uint32_t>(assignment.substr(equals + 1)).value_or(0);
    }
    return said;
}

bool overridden_by_user(const FormatOptions& options, std::string_view path) {
    return std::ranges::any_of(options.overrides, [&](std::string_view assignment) {
        return assignment.substr(0, assignment.find('=')) == path;
    });
}

void set_pattern(const std::vector<std::string>& names, const Origin& origin, Draft& model) {
    std::ptrdiff_t length = 1;
    while (length < std::ssize(names) && !std::equal(names.begin() + length, names.end(), names.begin())) ++length;
    const std::vector<std::string> run(names.begin(), names.begin() + length);
    const bool letters = std::ranges::all_of(run, [](const std::string& name) { return name.size() == 1; });
    model.set_json(
        "layer_pattern",
        letters ? fmt::format("\"{}\"", fmt::join(run, "")) : fmt::format("[\"{}\"]", fmt::join(run, "\", \"")),
        origin);
}

}  // namespace weft
