// The table of Megatron-LM's flags (megatron_keys.json), and what becomes of those that nothing
// reads.
#include <algorithm>

#include "workloads/formats/keys.hpp"
#include "workloads/formats/known_keys.hpp"
#include "workloads/formats/megatron/keys.hpp"

namespace weft {
namespace {

bool is_among(std::string_view section, std::string_view key) { return known_keys("megatron", section).contains(key); }

bool is_harmless(MegatronReading& reading, const std::string& key) {
    std::string json = reading.keys.member(key).as_json();
    std::erase(json, '"');
    for (const std::string_view value : {"false", "0", "0.0", "", "none", "None", "null", "[]", "False"}) {
        if (json == value) return true;
    }
    const auto& harmless = known_keys("megatron", "harmless").by_name;
    const auto found = harmless.find(key);
    return found != harmless.end() && json == found->second;
}

void tell(MegatronReading& reading, std::string_view section, FormatNote::Severity severity) {
    for (const auto& [key, message] : known_keys("megatron", section).in_order) {
        if (!reading.keys.has(key)) continue;
        const bool silent = section == "on_by_default" ? reading.on(key) : is_harmless(reading, key);
        if (silent) {
            reading.import.without_effect.push_back(reading.origin(key));
        } else {
            reading.import.note(severity, reading.origin(key), message);
        }
    }
}

}  // namespace

MegatronName megatron_name(std::string_view flag) {
    std::string key(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
    std::ranges::replace(key, '-', '_');
    std::ranges::transform(key, key.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const auto& others = known_keys("megatron", "other_names").by_name;
    const auto found = others.find(key);
    if (found == others.end()) return {std::move(key), "true"};
    const bool off = found->second.starts_with("no ");
    return {found->second.substr(off ? 3 : 0), off ? "false" : "true"};
}

bool is_megatron_switch(std::string_view key) { return is_among("switches", key); }

bool is_megatron_list(std::string_view key) { return is_among("lists", key); }

bool is_read_of_megatron(std::string_view key) { return is_among("read", key) || is_among("on_by_default", key); }

bool matters_to_megatron(std::string_view key) {
    if (key == "tokenizer_type") return false;
    return is_read_of_megatron(key) || is_among("refused", key) || is_among("warned", key);
}

bool is_megatron_flag(std::string_view flag) {
    if (!flag.starts_with("--")) return false;
    const std::string key = megatron_name(flag.substr(0, flag.find('='))).key;
    return matters_to_megatron(key) || is_among("without_effect", key);
}

void sort_out_megatron_keys(MegatronReading& reading) {
    tell(reading, "refused", FormatNote::Severity::error);
    tell(reading, "warned", FormatNote::Severity::warning);
    tell(reading, "on_by_default", FormatNote::Severity::warning);
    const std::string_view of_the_other = reading.deepspeed ? "megatron_alone" : "deepspeed_alone";
    for (const std::string& key : reading.keys.unasked()) {
        // What is read elsewhere changes nothing here.
        const bool idle = is_among("without_effect", key) || (is_read_of_megatron(key) && !is_among(of_the_other, key));
        if (idle && reading.keys.has(key)) reading.import.without_effect.push_back(reading.keys.origin(key));
    }
    note_rest(reading.import, reading.keys);
}

}  // namespace weft
