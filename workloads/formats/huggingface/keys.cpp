#include "workloads/formats/huggingface/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "sim/base/texts.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {

struct HuggingFaceFamily {
    std::vector<std::string> types;  // values of "model_type"
    std::map<std::string, double, std::less<>> defaults;
    std::vector<std::string> terms;
    HuggingFaceLayers layers{};
};

namespace {

using Words = std::vector<std::string>;

// Whether one of the words is part of the key, or, behind "=", the key.
bool has_part(std::string_view key, const auto& words) {
    return std::ranges::any_of(words, [&](std::string_view word) {
        return word.starts_with('=') ? key == word.substr(1) : contains(key, word);
    });
}

struct Tables {
    Tables() {
        Document document = format_table("families");
        Field root = document.root(), of_sizes = root.object("keys");
        for (const std::string& size : of_sizes.keys()) keys.emplace(size, texts(of_sizes.list(size)));
        unknown_layers = texts(root.list("unknown_layers"));
        harmless = texts(root.list("harmless"));
        for (Field& row : root.list("families")) {
            HuggingFaceFamily family{
                .types = texts(row.list("types")), .defaults = {}, .terms = texts(row.list("terms"))};
            family.layers = read_huggingface_layers(row);
            Field defaults = row.object("defaults");
            for (const std::string& name : defaults.keys()) family.defaults.emplace(name, defaults.number(name));
            types.insert(types.end(), family.types.begin(), family.types.end());
            families.push_back(std::move(family));
        }
        document.check();
    }

    std::map<std::string, Words, std::less<>> keys;  // that say a size
    Words unknown_layers, harmless, types;
    std::vector<HuggingFaceFamily> families;
};

const Tables& tables() {
    static const Tables all;
    return all;
}

// What a size is called, the first of which messages say; or `name` itself, which is a key then.
Words keys_of(std::string_view name) {
    const auto found = tables().keys.find(name);
    return found == tables().keys.end() ? Words{std::string(name)} : found->second;
}

bool is_dropout(std::string_view key) {
    return has_part(key, std::array<std::string_view, 3>{"dropout", "pdrop", "layerdrop"});
}

bool is_there(const Field& field, std::string_view key) { return std::ranges::count(field.keys(), key) > 0; }

bool holds_list(Field field, std::string_view key) { return field.member(key).as_json().starts_with('['); }

// A number, a flag, or numbers that are all the same, one for each layer.
double number_of(Field field, std::string_view key) {
    if (field.is_flag(key)) return field.flag(key) ? 1 : 0;
    if (!holds_list(field, key)) return field.number(key);
    const auto values = list_of<double>(field.list(key), &Field::as_number);
    if (std::ranges::adjacent_find(values, std::not_equal_to<>()) != values.end())
        field.error(key, "expected the same for every layer");
    return values.empty() ? 0 : values.front();
}

void refuse_unknown_layers(Import& import, Field field, const HuggingFaceFamily* family) {
    for (const std::string& key : field.keys()) {
        if (!has_part(key, tables().unknown_layers) || key.starts_with("mtp_")) continue;
        if (family != nullptr && family->layers.reads(key)) continue;
        const bool differ = family != nullptr && !family->layers.kinds.empty();
        if (differ && has_part(key, tables().harmless)) continue;
        const bool nothing = says_nothing(field, key);
        field.has(key);
        if (nothing && family != nullptr) continue;
        import.error(field.origin(key), "weft knows no layers of this kind in a model of this type");
    }
}

const HuggingFaceFamily* known_family(Import& import, Field& language, const std::string& type) {
    const auto knows = [&](const HuggingFaceFamily& family) { return std::ranges::count(family.types, type) > 0; };
    if (const HuggingFaceFamily* const found = first_of(tables().families, knows)) return found;
    Origin origin = language.origin("model_type");
    origin.key = "model_type";
    import.error(origin, type.empty() ? "expected the model's type, which says what its layers are"
                                      : fmt::format("weft knows no model of type \"{}\"{}", type,
                                                    suggestion(type, tables().types)));
    return nullptr;
}

}  // namespace

std::string without_infinities(std::string text) {
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted && text[i] == '\\') ++i;
        if (quoted) continue;
        if (text.compare(i, 8, "Infinity") == 0) text.replace(i, 8, "1.0e+300");
        if (text.compare(i, 3, "NaN") == 0) text.replace(i, 3, "0.0");
    }
    return text;
}

std::optional<HuggingFaceKeys> HuggingFaceKeys::find(Import& import, Field root) {
    Field language = root;
    bool nested = false;
    for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
        if (!root.is_object(key)) continue;
        language = root.object(key);
        nested = true;
    }
    const std::string whole = root.text("model_type", "");
    const std::string type = language.text("model_type", whole);
    const HuggingFaceFamily* const family = known_family(import, language, type);
    std::vector<Field> places{language};
    for (const std::string_view key : {"attn_config", "ffn_config"}) {
        if (language.is_object(key)) places.push_back(language.object(key));
    }
    if (nested) places.push_back(root);
    for (const Field& place : places) refuse_unknown_layers(import, place, family);
    if (family == nullptr || import.has_errors()) return std::nullopt;
    return HuggingFaceKeys(import, *family, std::move(places), type);
}

std::optional<HuggingFaceKeys::Place> HuggingFaceKeys::place(std::string_view path) const {
    const std::size_t dot = path.find('.');
    std::optional<Place> found;
    for (const Field& field : places_) {
        if (dot != path.npos) {
            if (found || !field.is_object(path.substr(0, dot))) continue;
            Field inner = Field(field).object(path.substr(0, dot));
            if (inner.has(path.substr(dot + 1))) found = Place{inner, std::string(path.substr(dot + 1))};
            continue;
        }
        for (const std::string& key : keys_of(path)) {
            if (!is_there(field, key)) continue;
            field.has(key);  // asked for
            if (!found) found = Place{field, key};
        }
    }
    return found;
}

std::optional<double> HuggingFaceKeys::default_of(std::string_view name) const {
    const auto found = family_->defaults.find(name);
    return found == family_->defaults.end() ? std::nullopt : std::optional(found->second);
}

std::optional<HuggingFaceSize> HuggingFaceKeys::size(std::string_view name) const {
    if (const std::optional<Place> at = place(name)) {
        const double value = at->field.has(at->key) ? number_of(at->field, at->key) : 0;  // null: none
        return HuggingFaceSize{value, at->field.origin(at->key), at->field.is_flag(at->key)};
    }
    const std::optional<double> value = default_of(name);
    if (!value) return std::nullopt;
    return HuggingFaceSize{*value, origin_of_class(keys_of(name).front())};
}

std::vector<std::string> HuggingFaceKeys::words(std::string_view path) const {
    std::vector<std::string> words;
    const std::optional<Place> at = place(path);
    if (!at || !at->field.has(at->key)) return words;
    Field field = at->field;
    if (field.is_text(at->key)) {
        const std::string text = field.text(at->key);
        if (contains(text, ",")) {
            for (const std::string_view part : parts_of(text, ',')) words.emplace_back(trimmed(part));
            return words;
        }
        for (const char letter : text) words.emplace_back(1, letter);
        return words;
    }
    for (Field& element : field.list(at->key)) {
        std::string json = element.as_json();
        words.push_back(json.starts_with('"') ? element.as_text() : json);
    }
    return words;
}

const HuggingFaceLayers& HuggingFaceKeys::layers_of_class() const { return family_->layers; }

bool HuggingFaceKeys::flag(std::string_view key) const {
    const std::optional<HuggingFaceSize> value = size(key);
    return value && value->value != 0;
}

bool HuggingFaceKeys::is_false(std::string_view key) const { return place(key) && !flag(key); }

bool HuggingFaceKeys::multi_query() const {
    const std::optional<Place> at = place("attn_type");
    return at && at->field.is_text(at->key) && Field(at->field).text(at->key) == "multiquery_attention";
}

std::set<std::string, std::less<>> HuggingFaceKeys::terms() const {
    std::set<std::string, std::less<>> terms;
    for (std::string_view term : family_->terms) {
        const std::size_t colon = term.find(':');
        if (colon != term.npos) {
            const bool unless = term.front() == '!', absent = term.front() == '~';
            const std::size_t begin = unless || absent ? 1 : 0;
            const std::string_view key = term.substr(begin, colon - begin);
            if (absent ? place(key).has_value() : flag(key) == unless) continue;
            term.remove_prefix(colon + 1);
        }
        for (const std::string_view part : parts_of(term, ',')) terms.emplace(part);
    }
    return terms;
}

Origin HuggingFaceKeys::origin_of_class(std::string_view what) const {
    Origin origin = places_.front().origin("");
    origin.key = fmt::format("{} of {}", what, type_);
    return origin;
}

Origin HuggingFaceKeys::origin_at(std::string_view path) const {
    const std::optional<Place> at = place(path);
    return at ? at->field.origin(at->key) : origin_of_class(path);
}

void HuggingFaceKeys::report_missing(std::string_view name) const {
    Field(places_.front()).error("", "expected a \"{}\"", keys_of(name).front());
}

void HuggingFaceKeys::refuse(std::string_view key, std::string_view why) const {
    import_->error(origin_at(key), std::string(why));
}

void HuggingFaceKeys::note_others() const {
    bool told = false;  // of further tokens
    for (const Field& place : places_) {
        for (const std::string& key : place.unasked()) {
            const Origin origin = place.origin(key);
            const bool further = contains(key, "nextn_predict") || contains(key, "mtp");
            if (has_part(key, tables().harmless) || says_nothing(place, key) || family_->layers.reads(key) ||
                (further && std::exchange(told, true))) {
                import_->without_effect.push_back(origin);
                continue;
            }
            import_->note(origin, is_dropout(key) ? "is what a job says, by its key dropout"
                                  : further
                                      ? "modules that predict further tokens are left out, as transformers does; --set "
                                        "mtp_layers=N for N"
                                  : key == "quantization_config" || key == "compression_config"
                                      ? "is how the weights are stored; a job's precision says the rest"
                                  : key.ends_with("_config") && place.is_object(key)
                                      ? "is left out: the model is its language model"
                                      : "not known to weft, and left out");
        }
    }
}

}  // namespace weft
