#include "tools/manual/manual.hpp"

#include <boost/algorithm/string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"
#include "tools/collective/collective.hpp"
#include "tools/command_line.hpp"
#include "tools/schema/reference.hpp"
#include "tools/traffic/request.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/formats/format.hpp"

namespace weft {
namespace {

using Words = std::vector<std::string>;

template <typename Registry>
Words names_of(const Registry& registry) {
    return list_of<std::string>(registry, [](const auto* each) { return each->name; });
}

// Keys of a kind of file by their paths, without elements of lists and members with names of the user's choice, and the
// words that each may be.
std::map<std::string, Words> keys_and_words(std::string_view kind) {
    std::map<std::string, Words> keys;
    const Reference reference = make_reference(kind);
    for (const auto& [path, record] : every_key(reference)) {
        if (path.find_first_of("[*") != path.npos) continue;
        std::string plain = path;
        while (plain.find('(') != plain.npos) plain.erase(plain.find('('), plain.find(')') - plain.find('(') + 1);
        std::set<std::string> words;
        for (const std::string& text : record->takes) {
            const auto schema = nlohmann::json::parse(text);
            if (schema.contains("enum")) words.insert(schema["enum"].begin(), schema["enum"].end());
            if (schema.value("type", "") == "boolean") words.insert({"false", "true"});
        }
        keys[plain].insert(keys[plain].end(), words.begin(), words.end());
    }
    return keys;
}

// "KEY=VALUE" of a job, with the keys of its machine and model; of several values with commas the last.
Words assignments(const std::string& current) {
    const auto prefixed = [](const std::string& prefix, const Words& words) {
        return list_of<std::string>(words, [&](const std::string& word) { return prefix + word; });
    };
    std::string kind = "job", prefix;
    for (const std::string part : {"machine", "model"}) {
        if (current.starts_with(part + ".")) kind = part, prefix = part + ".";
    }
    const std::map<std::string, Words> keys = keys_and_words(kind);
    const std::size_t equals = current.find('=');
    if (equals == current.npos)
        return list_of<std::string>(keys, [&](const auto& key) { return prefix + key.first + "="; });
    const std::string key = current.substr(0, equals);
    const std::string before = current.substr(0, current.find_last_of("=,") + 1);
    if (key == "machine") return prefixed(before, shipped_names(embedded::machines()));
    if (key == "model") return prefixed(before, shipped_names(embedded::catalog()));
    const auto found = keys.find(key.substr(prefix.size()));
    return found == keys.end() ? Words{} : prefixed(before, found->second);
}

// What the placeholder of an option or argument stands for.
Words values(const po::option_description& option, const std::string& current) {
    std::string placeholder = option.semantic()->name();
    placeholder = placeholder.substr(0, placeholder.find(" (="));
    if (Words choices; placeholder.find('|') != placeholder.npos) {
        return boost::split(choices, placeholder, boost::is_any_of("|"));
    }
    if (placeholder == "MACHINE") return shipped_names(embedded::machines());
    if (placeholder == "MODEL") return shipped_names(embedded::catalog());
    if (placeholder == "DEVICE") return shipped_names(embedded::devices());
    if (placeholder == "SET") return shipped_names(embedded::validation());
    if (placeholder == "OP") return all_enumerator_names<Collective>();
    if (placeholder == "PATTERN") return traffic_pattern_names();
    if (placeholder == "KIND") return reference_kinds();
    if (placeholder == "SHELL") return shell_names();
    if (placeholder == "FORMAT") return names_of(exports::all());
    if (placeholder == "INPUT") return names_of(formats::all());
    if (placeholder.starts_with("KEY=")) return assignments(current);
    return {};
}

bool takes_value(const po::option_description& option) { return option.semantic()->max_tokens() > 0; }

const po::option_description* find_option(const CommandOptions& declared, const std::string& word) {
    return word.starts_with("-") ? declared.all.find_nothrow(word.substr(word.find_first_not_of('-')), false) : nullptr;
}

Words words_of(const Command& command, std::span<const std::string> arguments) {
    const CommandOptions declared = options_of(command);
    const std::string& current = arguments.back();
    unsigned position = 0;
    const po::option_description* waiting = nullptr;  // an option without its value yet
    for (const std::string& word : arguments.first(arguments.size() - 1)) {
        const po::option_description* const option = waiting == nullptr ? find_option(declared, word) : nullptr;
        if (waiting == nullptr && !word.starts_with("-")) ++position;
        waiting = option != nullptr && takes_value(*option) ? option : nullptr;
    }
    if (waiting != nullptr) return values(*waiting, current);
    if (!current.starts_with("-")) {
        if (position >= declared.positional.max_total_count()) return {};
        const auto* const argument = declared.all.find_nothrow(declared.positional.name_for_position(position), false);
        return argument == nullptr ? Words{} : values(*argument, current);
    }
    if (const std::size_t equals = current.find('='); equals != current.npos) {
        const po::option_description* const option = find_option(declared, current.substr(0, equals));
        if (option == nullptr || !takes_value(*option)) return {};
        Words found = values(*option, current.substr(equals + 1));
        for (std::string& value : found) value.insert(0, current, 0, equals + 1);
        return found;
    }
    return option_names(declared);
}

}  // namespace

std::vector<std::string> completions(std::span<const std::string> words) {
    if (words.empty()) return {};
    Words found;
    if (words.size() == 1) {
        found = names_of(commands::all());
        found.insert(found.end(), {"--help", "--version"});
    } else if (const auto known = commands::all();
               std::ranges::any_of(known, [&](const Command* command) { return command->name == words.front(); })) {
        found = words_of(find_command(words.front()), words.subspan(1));
    }
    std::erase_if(found, [&](const std::string& word) { return !word.starts_with(words.back()); });
    return found;
}

std::vector<std::string> shell_names() { return shipped_names(embedded::completion_scripts()); }

// That of bash: bash breaks words at "=" and ":" itself and completes what is behind them; a key that ends in "=" takes
// no space.
std::string_view completion_script(std::string_view shell) {
    return find_called(embedded::completion_scripts(), shell)->text;
}

}  // namespace weft
