// Members and kinds of layers that families.json gives a Hugging Face model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "sim/base/texts.hpp"
#include "workloads/formats/huggingface/keys.hpp"
#include "workloads/formats/keys.hpp"

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
        return list_of<std::string>(numbers_below<std::uint32_t>(count), [&](std::uint32_t layer) {
            return numbers.contains(std::to_string(layer + 1)) ? layers.numbered : layers.otherwise;
        });
    }
    by = layers.interval;
    const std::optional<HuggingFaceSize> interval = keys.size(layers.interval);
    if (!layers.otherwise.empty() && layers.interval.empty()) return {count, layers.otherwise};
    if (layers.interval.empty() || !interval || interval->value < 1) return {};
    return list_of<std::string>(numbers_below<std::uint32_t>(count), [&](std::uint32_t layer) {
        return std::fmod(layer + 1, interval->value) == 0 ? layers.numbered : layers.otherwise;
    });
}

// Which layers of a Hugging Face model have experts, and which a window.

std::uint32_t position(const std::vector<bool>& layers, std::uint32_t from, bool value) {
    const auto found = std::find(layers.begin() + from, layers.end(), value);
    return static_cast<std::uint32_t>(found - layers.begin());
}

// Whether layer `first` + i is of the kind exactly where `of_kind(i)` says so.
template <class OfKind>
bool follows(const std::vector<bool>& layers, std::uint32_t first, OfKind of_kind) {
    for (std::uint32_t layer = 0; layer < layers.size(); ++layer) {
        if (layers[layer] != (layer >= first && of_kind(layer - first))) return false;
    }
    return true;
}

}  // namespace

void set_members(const HuggingFaceMembers& members, const HuggingFaceKeys& keys, Draft& to) {
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
    set_members(layers.sets, keys, model);
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
        if (!kinds.has(kind->name)) set_members(kind->members, keys, kinds.object(kind->name));
    }
    set_pattern(names, origin, model);
}

std::optional<LayerPattern> expert_pattern(const std::vector<bool>& has_experts) {
    const auto count = static_cast<std::uint32_t>(has_experts.size());
    const std::uint32_t first = position(has_experts, 0, true);
    if (first == count) return std::nullopt;
    const std::uint32_t every = position(has_experts, first + 1, true) - first;
    if (!follows(has_experts, first, [&](std::uint32_t i) { return i % every == 0; })) return std::nullopt;
    return LayerPattern{first, every};
}

std::optional<LayerPattern> window_pattern(const std::vector<bool>& has_window) {
    const auto count = static_cast<std::uint32_t>(has_window.size());
    const std::uint32_t first = position(has_window, 0, true);
    if (first == count) return std::nullopt;
    const std::uint32_t full = position(has_window, first, false);
    const std::uint32_t every = full == count ? 0 : full - first + 1;
    const auto windowed = [&](std::uint32_t i) { return every == 0 || (i + 1) % every != 0; };
    if (!follows(has_window, first, windowed)) return std::nullopt;
    return LayerPattern{first, every};
}

std::uint32_t HuggingFaceKeys::layers() const {
    constexpr double most = 1e5;  // two orders of magnitude beyond any published model
    const std::optional<HuggingFaceSize> size = this->size("layers");
    if (!size || size->value < 1 || size->value > most) return 0;
    return static_cast<std::uint32_t>(size->value);
}

std::vector<bool> HuggingFaceKeys::expert_layers() const {
    std::vector<bool> layers(this->layers(), true);
    const auto keep = [&](auto has_experts) {
        for (std::size_t i = 0; i < layers.size(); ++i) layers[i] = layers[i] && has_experts(double(i));
    };
    const auto step_of = [&](std::string_view key) {
        const std::optional<HuggingFaceSize> step = size(key);
        return step && step->value >= 1 ? step->value : 1.0;
    };
    const auto members = [&](std::string_view key) {
        std::set<double> members;
        const std::optional<Place> at = place(key);
        if (!at || !at->field.has(at->key)) return members;
        for (Field& element : Field(at->field).list(at->key)) members.insert(element.as_number());
        return members;
    };
    for (const std::string_view key : {"interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval"}) {
        const double step = step_of(key);
        keep([&](double i) { return std::fmod(i + 1, step) == 0; });
    }
    if (const std::optional<Place> at = place("moe_layer_freq");
        at && Field(at->field).member(at->key).as_json().starts_with('[')) {
        const std::vector<Field> frequency = Field(at->field).list(at->key);
        keep([&](double i) {
            return i < double(frequency.size()) && Field(frequency[std::size_t(i)]).as_number() != 0;
        });
    } else {
        const double step = step_of("moe_layer_freq");
        keep([&](double i) { return std::fmod(i, step) == 0; });
    }
    for (const std::string_view key : {"first_dense", "moe_layer_start_index"}) {
        if (const auto first = size(key)) keep([&](double i) { return i >= first->value; });
    }
    const std::optional<HuggingFaceSize> last = size("moe_layer_end_index");
    if (last && last->value >= 0) keep([&](double i) { return i <= last->value; });
    const std::set<double> dense = members("mlp_only_layers");
    std::set<double> with = members("moe_layers");
    for (const std::string& number : words("moe_layers_enum")) {
        if (const std::optional<double> layer = parse_as<double>(number)) with.insert(*layer);
    }
    keep([&](double i) { return !dense.contains(i) && (with.empty() || with.contains(i)); });
    return layers;
}

Origin HuggingFaceKeys::origin_of_expert_layers() const {
    for (const std::string_view key : {"mlp_only_layers", "moe_layers", "first_dense", "moe_layer_freq",
                                       "interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_start_index"}) {
        if (const std::optional<Place> at = place(key)) return at->field.origin(at->key);
    }
    return origin_of_class("which layers have experts");
}

// What layer_types, attention_types (GPT-Neo) or no_rope_layers (Llama 4) list.
std::optional<std::vector<bool>> HuggingFaceKeys::listed_windows(bool& chunked) const {
    std::vector<bool> windows;
    const auto listed = [&](std::string_view key) {
        std::optional<Place> at = place(key);
        if (at && (!at->field.has(at->key) || at->field.member(at->key).as_json() == "[]")) at.reset();
        return at;
    };
    if (std::optional<Place> at = listed("layer_types")) {
        for (Field& element : at->field.list(at->key)) {
            const std::string type = element.as_text();
            chunked = chunked || type == "chunked_attention";
            windows.push_back(type != "full_attention");
            if (type == "full_attention" || type == "sliding_attention" || type == "chunked_attention") continue;
            refuse("layer_types", fmt::format("weft has attention in every layer, and no \"{}\"", type));
            return std::nullopt;
        }
        return windows;
    }
    if (std::optional<Place> at = listed("no_rope_layers")) {
        for (Field& element : at->field.list(at->key)) windows.push_back(element.as_number() != 0);
        return windows;
    }
    std::optional<Place> at = listed("attention_types");
    if (!at) return std::nullopt;
    for (Field& run : at->field.list(at->key)) {  // [["global", "local"], 12]
        std::vector<Field> parts = run.elements();
        if (parts.size() != 2) continue;
        const std::vector<Field> types = parts[0].elements();
        const std::uint32_t repeats = std::min(parts[1].as_whole(), layers());
        for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
            for (const Field& type : types) windows.push_back(Field(type).as_text() != "global");
        }
    }
    return windows;
}

HuggingFaceWindow HuggingFaceKeys::window(const std::set<std::string, std::less<>>& terms) const {
    const bool chunked = default_of("chunk").has_value();
    HuggingFaceWindow found{.layers = std::vector<bool>(layers()), .tokens = {}, .chunked = chunked, .origin = {}};
    const auto rule = std::ranges::find_if(terms, [](const std::string& term) { return term.starts_with("window_"); });
    const std::optional<HuggingFaceSize> tokens = size(chunked ? "chunk" : "window");
    const std::optional<std::vector<bool>> listed = listed_windows(found.chunked);
    const bool off = is_false("use_sliding_window") || (terms.contains("window_after") && !flag("use_sliding_window"));
    if (rule == terms.end() || !tokens || tokens->value == 0 || off) return found;
    found.tokens = *tokens;
    found.origin = origin_of_class("which layers have a window");
    if (listed) {
        if (listed->size() != found.layers.size()) refuse("layer_types", "expected as many as there are layers");
        found.layers = *listed;
        return found;
    }
    const std::optional<HuggingFaceSize> first = size("max_window_layers"), pattern = size("sliding_window_pattern");
    const double every = *rule == "window_but_pattern"                                ? (pattern ? pattern->value : 0)
                         : *rule == "window_but_second" || *rule == "window_of_types" ? 2
                         : *rule == "window_but_fourth"                               ? 4
                                                                                      : 0;
    for (std::size_t i = 0; i < found.layers.size(); ++i) {
        const bool full = every > 0 && std::fmod(double(i) + (*rule == "window_of_types" ? 0 : 1), every) == 0;
        found.layers[i] = !full && (*rule != "window_after" || !first || double(i) >= first->value);
    }
    return found;
}

}  // namespace weft
