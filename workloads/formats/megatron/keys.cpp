#include "workloads/formats/megatron/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "sim/base/check.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/framework/version_since.hpp"

namespace weft {
namespace {

constexpr std::size_t most_arguments = 4096;

std::string unquoted(std::string_view text) {
    while (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
        text = text.substr(1, text.size() - 2);
    return std::string(text);
}

std::string text_json(std::string_view text) {
    Draft draft;
    draft.set("value", text, {});
    const std::string json = draft.json();  // {"value":"..."}
    return json.substr(9, json.size() - 10);
}

// A number where Python would read one.
std::string value_json(std::string_view text) {
    double number = 0;
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (!digits.empty() && error == std::errc() && end == digits.data() + digits.size() && std::isfinite(number))
        return fmt::format("{}", number);
    for (const std::string_view word : {"true", "false", "null"}) {
        if (text.size() == word.size() && std::ranges::equal(text, word, [](char a, char b) {
                return std::tolower(static_cast<unsigned char>(a)) == b;
            }))
            return std::string(word);
    }
    return text == "None" ? "null" : text_json(text);
}

}  // namespace

void MegatronInput::add(std::string_view flag, std::string_view value, bool has_value, Origin origin) {
    const MegatronName name = megatron_name(flag);
    // "--disable-bias-linear true", as YAML writes it.
    std::string json = has_value ? value_json(unquoted(value)) : std::string(name.json);
    if (has_value && name.json == "false" && (json == "true" || json == "false"))
        json = json == "true" ? "false" : "true";
    add_json(name.key, std::move(json), std::move(origin));
}

void MegatronInput::add_unknown(std::string_view key, std::vector<std::string> names, Origin origin) {
    add_json(key, "null", origin);
    unknown[std::string(key)] = {std::move(names), std::move(origin)};
}

void MegatronInput::add_json(std::string_view key, std::string json, Origin origin) {
    unknown.erase(std::string(key));
    keys.set_json(key, std::move(json), std::move(origin));
    if (++arguments > most_arguments) {
        throw ConfigError({Diagnostic{
            .file = file.file, .line = origin.line, .key = {}, .message = "has more arguments than any training run"}});
    }
}

bool MegatronReading::has(std::string_view key) const {
    WEFT_CHECK(is_read_of_megatron(key), "a key is asked for that the table of flags does not call read");
    return keys.has(key);
}

bool MegatronReading::on(std::string_view key, bool otherwise) {
    if (!has(key)) return otherwise;
    if (keys.is_number(key)) return keys.number(key) != 0;
    const std::string text = keys.is_flag(key) ? "" : lower(key);
    if (text == "yes" || text == "on" || text == "true") return true;
    if (text == "no" || text == "off" || text == "false" || text == "none") return false;
    return keys.flag(key);  // records what was expected
}

std::string MegatronReading::word(std::string_view key, std::string_view otherwise) {
    if (!has(key)) return std::string(otherwise);
    if (keys.is_text(key)) return keys.text(key);
    std::string json = keys.member(key).as_json();  // a list of words, too
    std::erase_if(json, [](char c) { return c == '"' || c == '[' || c == ']'; });
    std::ranges::replace(json, ',', ' ');
    return json;
}

std::string MegatronReading::lower(std::string_view key, std::string_view otherwise) {
    std::string text = word(key, otherwise);
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

double MegatronReading::number(std::string_view key) { return has(key) ? keys.number(key) : 0; }

std::uint32_t MegatronReading::size(std::string_view key) { return number(key) > 0 ? keys.count(key) : 1; }

Origin MegatronReading::origin(std::string_view key) const {
    return keys.has(key) ? keys.origin(key) : derived("", key);
}

Origin MegatronReading::derived(std::string_view key, std::string_view how) const {
    Origin from = !key.empty() && keys.has(key) ? keys.origin(key) : input.file;
    from.key = how;
    return from;
}

std::string_view MegatronReading::first_of(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
        if (has(name)) return name;
    }
    return *(names.end() - 1);
}

bool MegatronReading::take(std::string_view key, Draft& to, std::string_view name) {
    if (has(key)) to.set(name, keys.count(key), keys.origin(key));
    return has(key);
}

void MegatronReading::error(std::string_view key, std::string message) {
    import.note(FormatNote::Severity::error, origin(key), std::move(message));
}
void MegatronReading::warn(std::string_view key, std::string message) {
    import.note(FormatNote::Severity::warning, origin(key), std::move(message));
}
void MegatronReading::note(std::string_view key, std::string message) {
    import.note(FormatNote::Severity::note, origin(key), std::move(message));
}
void MegatronReading::needs(std::string_view since, std::string_view key) {
    if (has_since(version_of(megatron_versions, version), since)) return;
    version = since;
    import.object.object("megatron").set("version", since, origin(key));
}

namespace {

// What the user says in place of a key.
bool is_overridden(const FormatOptions& options, std::string_view key) {
    constexpr std::pair<std::string_view, std::string_view> paths[] = {
        {"global_batch_size", "batch.global"},
        {"micro_batch_size", "batch.micro"},
        {"seq_length", "batch.sequence"},
        {"tensor_model_parallel_size", "layout.tensor"},
        {"pipeline_model_parallel_size", "layout.pipeline"},
        {"context_parallel_size", "layout.context"},
        {"expert_model_parallel_size", "layout.expert"}};
    for (const auto& [name, path] : paths) {
        if (name == key) return overridden_by_user(options, path);
    }
    return options.vocabulary > 0 && (key == "vocab_size" || key == "padded_vocab_size");
}

void ask_for_variables(MegatronReading& reading) {
    for (const auto& [key, value] : reading.input.unknown) {
        const auto& [names, place] = value;
        if (!matters_to_megatron(key) || is_overridden(reading.options, key)) continue;
        reading.import.note(
            FormatNote::Severity::error, place,
            names.empty() ? "its value is not known"
                          : fmt::format("depends on ${0}, which is not set; give --variable {0}=VALUE", names.front()));
    }
}

Import read_arguments(const MegatronInput& input, const FormatOptions& options) {
    Import import;
    Document document = input.keys.document(input.file.file);
    MegatronReading reading{import, document.root(), options, input};
    reading.deepspeed = reading.on("deepspeed") || reading.has("zero_stage");
    ask_for_variables(reading);
    if (import.has_errors()) return import;
    const Field given = document.copy().root();
    bool trains =
        reading.number("tensor_model_parallel_size") > 1 || reading.number("pipeline_model_parallel_size") > 1;
    for (const std::string_view key :
         {"micro_batch_size", "global_batch_size", "seq_length", "encoder_seq_length", "train_iters", "train_samples"})
        trains = trains || given.has(key);
    import.kind = trains ? FormatKind::job : FormatKind::model;
    if (import.kind == FormatKind::job) {
        read_megatron_job(reading);
    } else {
        read_megatron_model(reading, import.object);
    }
    sort_out_megatron_keys(reading);
    take_mistakes(import, document);
    return import;
}

}  // namespace

Import read_megatron_input(const MegatronInput& input, const FormatOptions& options, const Import& found) {
    Import import = read_arguments(input, options);
    import.notes.insert(import.notes.begin(), found.notes.begin(), found.notes.end());
    import.without_effect.insert(import.without_effect.begin(), found.without_effect.begin(),
                                 found.without_effect.end());
    return import;
}

}  // namespace weft
