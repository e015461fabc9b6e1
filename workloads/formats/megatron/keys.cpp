#include "workloads/formats/megatron/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/values.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

constexpr std::size_t most_arguments = 4096;

std::string unquoted(std::string_view text) {
    while (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
        text = text.substr(1, text.size() - 2);
    return std::string(text);
}

// A number where Python would read one.
std::string value_json(std::string_view text) {
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto number = parse_as<double>(digits);
    if (number && std::isfinite(*number)) return fmt::format("{}", *number);
    const std::string small = lower_case(text);
    if (small == "true" || small == "false" || small == "null") return small;
    return text == "None" ? "null" : json_string(text);
}

// --- the table of flags (megatron_keys.json), and what becomes of those that nothing reads ---

bool is_among(std::string_view section, std::string_view key) { return known_keys("megatron", section).contains(key); }

bool is_harmless(MegatronReading& reading, const std::string& key) {
    if (says_nothing(reading.keys, key)) return true;
    const auto& harmless = known_keys("megatron", "harmless").by_name;
    const auto found = harmless.find(key);
    std::string json = reading.keys.member(key).as_json();
    std::erase(json, '"');
    return found != harmless.end() && json == found->second;
}

void tell(MegatronReading& reading, std::string_view section, FormatNote::Severity severity) {
    for (const auto& [key, message] : known_keys("megatron", section).in_order) {
        if (!reading.keys.has(key)) continue;
        const bool silent = section == "on_by_default" ? reading.on(key) : is_harmless(reading, key);
        if (silent) {
            reading.import.without_effect.push_back(reading.origin(key));
        } else {
            reading.import.notes.push_back({severity, reading.origin(key), message});
        }
    }
}

// One that the reader asks for.
bool is_read(std::string_view key) { return is_among("read", key) || is_among("on_by_default", key); }

// Whether a key can change what a step does: one of those with an effect, refused or warned of.
bool matters(std::string_view key) {
    if (key == "tokenizer_type") return false;
    return is_read(key) || is_among("refused", key) || is_among("warned", key);
}

// What is left: known to have no effect, refused, or noted.
void sort_out_keys(MegatronReading& reading) {
    tell(reading, "refused", FormatNote::Severity::error);
    tell(reading, "warned", FormatNote::Severity::warning);
    tell(reading, "on_by_default", FormatNote::Severity::warning);
    const std::string_view of_the_other = reading.deepspeed ? "megatron_alone" : "deepspeed_alone";
    for (const std::string& key : reading.keys.unasked()) {
        // What is read elsewhere changes nothing here.
        const bool idle = is_among("without_effect", key) || (is_read(key) && !is_among(of_the_other, key));
        if (idle && reading.keys.has(key)) reading.import.without_effect.push_back(reading.keys.origin(key));
    }
    note_rest(reading.import, reading.keys);
}

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
        if (!matters(key) || is_overridden(reading.options, key)) continue;
        reading.import.error(
            place, names.empty()
                       ? "its value is not known"
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
    trains ? read_megatron_job(reading) : read_megatron_model(reading, import.object);
    sort_out_keys(reading);
    take_mistakes(import, document);
    return import;
}

}  // namespace

MegatronName megatron_name(std::string_view flag) {
    std::string key = lower_case(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
    std::ranges::replace(key, '-', '_');
    const auto& others = known_keys("megatron", "other_names").by_name;
    const auto found = others.find(key);
    if (found == others.end()) return {std::move(key), "true"};
    const bool off = found->second.starts_with("no ");
    return {found->second.substr(off ? 3 : 0), off ? "false" : "true"};
}

bool is_megatron_switch(std::string_view key) { return is_among("switches", key); }

bool is_megatron_list(std::string_view key) { return is_among("lists", key); }

bool is_megatron_flag(std::string_view flag) {
    if (!flag.starts_with("--")) return false;
    const std::string key = megatron_name(flag.substr(0, flag.find('='))).key;
    return matters(key) || is_among("without_effect", key);
}

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
    if (++arguments > most_arguments) refuse_file(file.file, "has more arguments than any training run", origin.line);
}

bool MegatronReading::has(std::string_view key) const {
    WEFT_CHECK(is_read(key), "a key is asked for that the table of flags does not call read");
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
    return lower_case(word(key, otherwise));
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

void MegatronReading::take_or(Draft& to, std::string_view name, std::string_view key, std::uint64_t usual,
                              std::string_view because) {
    if (!take(key, to, name)) to.set(name, usual, derived(because, fmt::format("default of {}", key)));
}

void MegatronReading::needs(std::string_view since, std::string_view key) {
    if (deepspeed || import.kind != FormatKind::job || has_since(version_of(megatron_versions, version), since)) return;
    version = since;
    import.object.object("megatron").set("version", since, origin(key));
}

Import read_megatron_input(const MegatronInput& input, const FormatOptions& options, const Import& found) {
    Import import = read_arguments(input, options);
    import.notes.insert(import.notes.begin(), found.notes.begin(), found.notes.end());
    import.without_effect.insert(import.without_effect.begin(), found.without_effect.begin(),
                                 found.without_effect.end());
    return import;
}

}  // namespace weft
