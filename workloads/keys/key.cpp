#include "workloads/keys/key.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "workloads/keys/bind.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

KeyKind kind_named(const Json& row) {
    if (row.contains("words")) return KeyKind::word;
    const auto kind = enumerator_called<KeyKind>(row.value("type", "other"));
    WEFT_CHECK(kind, "no type of keys: " + row.dump());
    return *kind;
}

// A list of enumerators, or words and what they stand for.
void take_words(JobKey& key, const Json& words) {
    for (const auto& [name, value] : words.items()) {
        key.words.push_back(words.is_array() ? value.get<std::string>() : name);
        key.values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
}

JobKey key_of_row(const std::string& path, const Json& row) {
    JobKey key{.path = path, .kind = kind_named(row)};
    if (row.contains("words")) take_words(key, row["words"]);
    if (row.contains("depends")) key.absent = Absent::depends;
    if (row.contains("required")) key.absent = Absent::refused;
    for (const Json& range : row.value("ranges", Json::array())) {
        const KeyRange any;
        const double above =
            range.contains("above") ? std::nextafter(range["above"].get<double>(), any.most) : any.least;
        key.ranges.push_back({range.value("least", above), range.value("most", any.most), range["expected"]});
    }
    key.meaning = row.value("meaning", "");
    key.elsewhere = row.value("elsewhere", key.elsewhere);
    if (row.contains("form")) key.heading = row["form"][0];
    if (row.contains("form")) key.place = row["form"][1];
    if (row.contains("alternatives")) {
        const Json& tried = row["alternatives"];
        key.alternatives = {tried["place"], tried["values"], tried.value("changes_numerics", false)};
    }
    return key;
}

// Its value is kept by its path.
void bind_further(JobKey& key, const Json& usual) {
    const double otherwise = usual.is_boolean() ? double(usual.get<bool>())
                             : usual.is_string()
                                 ? double(std::ranges::find(key.words, usual.get<std::string>()) - key.words.begin())
                                 : usual.get<double>();
    key.get = [path = key.path, otherwise](const Job& job) {
        const auto kept = job.further.find(path);
        return kept == job.further.end() ? otherwise : kept->second;
    };
    key.set = [path = key.path, otherwise](Job& job, double value) {
        job.further.erase(path);
        if (value != otherwise) job.further.emplace(path, value);
    };
}

struct BoundRows : KeyRows {
    BoundRows() {
        std::vector<std::pair<std::string, Json>> further;
        for (const embedded::File& file : embedded::keys()) {
            const Json rows = Json::parse(file.text);
            for (const auto& [path, row] : rows.items()) {
                this->row(path) = key_of_row(path, row);
                if (row.contains("default")) further.emplace_back(path, row["default"]);
            }
        }
        bind_members(*this);
        for (const auto& [path, usual] : further) {
            const std::size_t dot = path.find('.');
            const bool inside = dot != std::string::npos;
            bind_further(read_next(inside ? path.substr(0, dot) : "", inside ? path.substr(dot + 1) : path), usual);
        }
        for (const JobKey& key : keys) {
            for (const std::string& word : key.elsewhere) synonyms.push_back({word, key.path});
        }
    }

    std::vector<Synonym> synonyms;
};

const BoundRows& rows() {
    static const BoundRows bound;
    return bound;
}

double read_value(Field& object, std::string_view name, const JobKey& key, double usual) {
    const auto if_known = [&](auto value) {
        return key.absent == Absent::as_it_stands ? std::optional(value) : std::nullopt;
    };
    const auto integer = static_cast<std::uint32_t>(usual);
    if (key.kind == KeyKind::flag) return double(object.flag(name, if_known(usual != 0)));
    if (key.kind == KeyKind::count) return object.count(name, if_known(integer));
    if (key.kind == KeyKind::whole) return object.whole(name, if_known(integer));
    if (key.kind == KeyKind::number) return object.number(name, if_known(usual));
    if (key.kind == KeyKind::duration) return object.duration(name, if_known(Seconds{usual})).value;
    return read_word(object, name, key, usual);
}

void read_key(Field& object, std::string_view name, const JobKey& key, Job& job) {
    if (key.before) key.before(job);
    if (key.read) return key.read(object, name, job);
    if (key.absent == Absent::depends && !object.has(name)) return;
    const double value = read_value(object, name, key, key.get(job));
    for (const KeyRange& range : key.ranges) {
        if (value >= range.least && value <= range.most) continue;
        object.error(name, "expected " + fmt::format(fmt::runtime(range.expected), value));
        break;
    }
    key.set(job, value);
}

// What of the model a job trains: lists of words, as sets.

// A list of names of enumerators.
template <class Enum>
JobKey& bind_set(JobKey& key, EnumSet<Enum> Trained::*member) {
    key.read = [=](Field& object, std::string_view name, Job& job) {
        for (Field& element : object.list_if_given(name)) {
            const std::string word = element.as_text();
            if (const std::optional<Enum> value = enumerator_called<Enum>(word)) {
                (job.trained.*member).add(*value);
            } else if (!word.empty()) {
                const std::vector<std::string> known = all_enumerator_names<Enum>();
                object.error(name, "expected names out of {}, got \"{}\"{}", fmt::join(known, ", "), word,
                             suggestion(word, known));
            }
        }
    };
    key.json = [=](const Job& job) {
        std::vector<std::string> words = all_enumerator_names<Enum>();
        std::erase_if(
            words, [&](const std::string& word) { return !(job.trained.*member).has(*enumerator_called<Enum>(word)); });
        return words.empty() ? "[]" : fmt::format("[\"{}\"]", fmt::join(words, "\",\""));
    };
    return key;
}

void read_adapters(Field& root, std::string_view name, Job& job) {
    if (!root.has(name)) return;
    if (!job.trained.frozen.empty()) root.error(name, "freeze the model as a whole; leave frozen out");
    Field field = root.object(name);
    read_keys(field, name, job);
    field.done({{"", job_synonyms()}});
    job.trained.frozen = whole_model;
}

}  // namespace

JobKey& KeyRows::row(const std::string& path) {
    const auto [place, is_new] = places.emplace(path, keys.size());
    if (is_new) keys.push_back({.path = path});
    return keys[place->second];
}

JobKey& KeyRows::read_next(const std::string& object, const std::string& name) {
    JobKey& key = row(object.empty() ? name : object + "." + name);
    read[object].push_back(places.at(key.path));
    return key;
}

std::span<const JobKey> all_keys() { return rows().keys; }
std::span<const Synonym> job_synonyms() { return rows().synonyms; }

const JobKey& key_of(std::string_view path) {
    const auto found = rows().places.find(path);
    WEFT_CHECK(found != rows().places.end(), "no key of a job is called " + std::string(path));
    return rows().keys[found->second];
}

double read_word(Field& object, std::string_view name, const JobKey& key, double usual) {
    const bool known = key.absent == Absent::as_it_stands;
    const std::string word = known ? object.choice(name, key.words, key.words.at(static_cast<std::size_t>(usual)))
                                   : object.choice(name, key.words);
    return double(std::ranges::find(key.words, word) - key.words.begin());
}

void read_keys(Field& object, std::string_view path, Job& job) {
    for (const std::size_t place : rows().read.find(path)->second) {
        const JobKey& key = rows().keys[place];
        read_key(object, std::string_view(key.path).substr(path.empty() ? 0 : path.size() + 1), key, job);
    }
}

double value_of(const Job& job, std::string_view path) { return key_of(path).get(job); }

std::string json_of(const Job& job, std::string_view path) {
    const JobKey& key = key_of(path);
    if (key.json) return key.json(job);
    const double value = key.get(job);
    if (key.kind == KeyKind::flag) return value != 0 ? "true" : "false";
    if (key.kind == KeyKind::word) return '"' + key.words.at(static_cast<std::size_t>(value)) + '"';
    return key.kind == KeyKind::duration ? fmt::format("\"{} s\"", value) : fmt::format("{}", value);
}

std::string text_of(const Job& job, std::string_view path) {
    std::string json = json_of(job, path);
    return json.starts_with('"') && key_of(path).kind != KeyKind::duration ? json.substr(1, json.size() - 2) : json;
}

bool stands_as_usual(const Job& job, std::string_view path) {
    const JobKey& key = key_of(path);
    return key.get(job) == key.get(Job{});
}

void bind_trained(KeyRows& rows) {
    Section own(rows, "", std::identity());
    Section adapters(rows, "adapters", &Job::trained);
    bind_set(own("frozen", {}), &Trained::frozen);
    own("adapters", read_adapters).json = [](const Job& job) {
        return fmt::format("{{\"rank\":{},\"targets\":{}}}", json_of(job, "adapters.rank"),
                           json_of(job, "adapters.targets"));
    };
    adapters("rank", &Trained::width).absent = Absent::refused;
    bind_set(adapters("targets", {}), &Trained::targets);
}

}  // namespace weft
