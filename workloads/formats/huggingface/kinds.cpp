// Members and kinds of layers that families.json gives a model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "workloads/formats/huggingface/keys.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/text.hpp"

namespace weft {
namespace {

HuggingFaceMembers members_of(Field object, std::string_view but) {
    HuggingFaceMembers members;
    for (const std::string& path : object.keys()) {
        if (path != but) members.emplace_back(path, object.member(path).as_json());
    }
    return members;
}

// "$key" without its quotes and sign; empty: a value.
std::string_view referred_key(std::string_view json) {
    return json.starts_with("\"$") ? json.substr(2, json.size() - 3) : std::string_view{};
}

void set_at_path(Draft& to, std::string_view path, const std::string& json, const Origin& origin) {
    const std::size_t dot = path.find('.');
    if (dot == path.npos) return to.set_json(path, json, origin);
    set_at_path(to.object(path.substr(0, dot)), path.substr(dot + 1), json, origin);
}

void set_all(const HuggingFaceMembers& members, const HuggingFaceKeys& keys, Draft& to) {
    for (const auto& [path, json] : members) {
        if (path.starts_with("experts.") && !to.has("experts")) continue;
        const std::string_view key = referred_key(json);
        if (key.empty()) {
            set_at_path(to, path, json, keys.origin_of_class(path));
        } else if (const std::optional<HuggingFaceSize> found = keys.size(key); found && found->value != 0) {
            set_at_path(to, path, found->is_flag ? "true" : fmt::format("{}", found->value), found->origin);
        }
    }
}

// The word of each layer; empty: nothing lists them.
std::vector<std::string> words_of(const HuggingFaceLayers& layers, const HuggingFaceKeys& keys, std::string& by) {
    const std::uint32_t count = keys.layers();
    for (const std::string& key : layers.by) {
        std::vector<std::string> listed = keys.words(key);
        if (listed.empty()) continue;
        by = key;
        const bool kinds = std::ranges::count(layers.kinds, listed.front(), &HuggingFaceKind::word) > 0;
        if (kinds || layers.numbered.empty()) {
            if (count > 0 && listed.size() > count) listed.resize(count);  // those of further predictions
            return listed;
        }
        const std::set<std::string> numbers(listed.begin(), listed.end());
        std::vector<std::string> words;
        for (std::uint32_t layer = 1; layer <= count; ++layer)
            words.push_back(numbers.contains(std::to_string(layer)) ? layers.numbered : layers.otherwise);
        return words;
    }
    by = layers.interval;
    const std::optional<HuggingFaceSize> interval = keys.size(layers.interval);
    if (!layers.otherwise.empty() && layers.interval.empty()) return {count, layers.otherwise};
    if (layers.interval.empty() || !interval || interval->value < 1) return {};
    std::vector<std::string> words;
    for (std::uint32_t layer = 1; layer <= count; ++layer)
        words.push_back(std::fmod(layer, interval->value) == 0 ? layers.numbered : layers.otherwise);
    return words;
}

}  // namespace

bool HuggingFaceLayers::reads(std::string_view key) const {
    const auto begins = [&](std::string_view path) { return !path.empty() && path.substr(0, path.find('.')) == key; };
    const auto asks = [&](const HuggingFaceMembers& members) {
        return std::ranges::any_of(members, [&](const auto& member) { return begins(referred_key(member.second)); });
    };
    return asks(sets) || begins(interval) || std::ranges::any_of(by, begins) ||
           std::ranges::any_of(kinds, [&](const HuggingFaceKind& kind) { return asks(kind.members); });
}

HuggingFaceLayers read_huggingface_layers(Field& row) {
    HuggingFaceLayers layers;
    if (row.has("sets")) layers.sets = members_of(row.object("sets"), {});
    if (!row.has("layers")) return layers;
    Field of = row.object("layers"), kinds = of.object("kinds");
    if (of.has("by")) layers.by = texts(of.list("by"));
    layers.numbered = of.text("numbered", "");
    layers.otherwise = of.text("otherwise", "");
    layers.interval = of.text("interval", "");
    for (const std::string& word : kinds.keys()) {
        Field kind = kinds.object(word);
        layers.kinds.push_back({word, kind.text("is", word), members_of(kind, "is")});
    }
    return layers;
}

void set_layers(const HuggingFaceLayers& layers, const HuggingFaceKeys& keys, Draft& model) {
    set_all(layers.sets, keys, model);
    if (layers.kinds.empty()) return;
    std::string by;
    const std::vector<std::string> words = words_of(layers, keys, by);
    if (words.empty()) return keys.refuse(by, "expected the kind of each layer");
    const Origin origin = keys.origin_at(by);
    if (!model.has("layers")) model.set("layers", words.size(), origin);
    if (keys.layers() > 0 && words.size() != keys.layers())
        return keys.refuse(by, fmt::format("expected {} kinds of layers, got {}", keys.layers(), words.size()));
    std::vector<std::string> names;
    const bool alike = std::ranges::count(words, words.front()) == std::ssize(words);
    for (const std::string& word : words) {
        const auto kind = std::ranges::find(layers.kinds, word, &HuggingFaceKind::word);
        if (kind == layers.kinds.end()) return keys.refuse(by, fmt::format("weft knows no layers \"{}\" here", word));
        names.push_back(kind->name);
        if (alike && kind->members.empty()) return;  // all as the model
        Draft& kinds = model.object("layer_kinds");
        if (!kinds.has(kind->name)) set_all(kind->members, keys, kinds.object(kind->name));
    }
    set_pattern(names, origin, model);
}

}  // namespace weft
