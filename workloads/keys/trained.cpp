// What of the model a job trains: lists of words, as sets.
#include <fmt/format.h>

#include "sim/io/diagnostics.hpp"
#include "workloads/keys/bind.hpp"

namespace weft {
namespace {

// A list of names of enumerators.
template <class Enum>
JobKey& bind_set(JobKey& key, EnumSet<Enum> Trained::*member) {
    key.read = [=](Field& object, std::string_view name, Job& job) {
        if (!object.has(name)) return;
        for (Field& element : object.list(name)) {
            const std::string word = element.as_text();
            if (const std::optional<Enum> value = enumerator_called<Enum>(word)) {
                (job.trained.*member).add(*value);
            } else if (!word.empty()) {
                const std::vector<std::string> known = all_enumerator_names<Enum>();
                object.error(name, fmt::format("expected names out of {}, got \"{}\"{}", fmt::join(known, ", "), word,
                                               suggestion(word, known)));
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
