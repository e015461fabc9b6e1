#include "tools/serve/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "models/transformer/transformer.hpp"
#include "sim/io/embedded.hpp"
#include "tools/output/figures.hpp"
#include "tools/schema/reference.hpp"
#include "topologies/machine.hpp"
#include "workloads/keys/key.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;
using Input = FormField::Input;
using Keys = std::map<std::string, const ValueRecord*>;

void take(const SortedJson& schema, FormField& field) {
    if (schema.contains("enum")) {
        field.input = Input::choice;
        for (const SortedJson& each : schema["enum"]) {
            if (each.is_string()) field.choices.emplace_back(each.get<std::string>(), each.get<std::string>());
        }
    } else if (const std::string type = schema.value("type", ""); type == "boolean") {
        field.input = Input::choice;
        field.choices = {{"true", "on"}, {"false", "off"}};
    } else if (type == "integer") {
        field.input = Input::number;
    }
}

FormField field_of(const Reference& reference, const std::string& key, const ValueRecord& record) {
    FormField field{.key = key, .meaning = reference.meaning(key)};
    for (const std::string& schema : record.takes) take(SortedJson::parse(schema), field);
    if (record.defaults.size() == 1) {
        const SortedJson otherwise = SortedJson::parse(*record.defaults.begin());
        field.otherwise = otherwise.is_string() ? otherwise.get<std::string>() : otherwise.dump();
        if (field.otherwise == "true") field.otherwise = "on";
        if (field.otherwise == "false") field.otherwise = "off";
    }
    return field;
}

// Where the key has more to offer than its reader says.
void complete(FormField& field) {
    const auto offer = [&](std::string_view value, std::string text) {
        field.input = Input::choice;
        field.choices.emplace_back(value, std::move(text));
    };
    if (field.key == "machine") {
        for (const embedded::File& file : embedded::machines()) {
            const MachineInfo machine = Machine::load(file.name).info();
            offer(file.name, fmt::format("{}: {} nodes of {} {}", file.name, grouped(machine.nodes),
                                         machine.accelerators_per_node, machine.device));
        }
    } else if (field.key == "model") {
        for (const embedded::File& file : embedded::catalog())
            offer(file.name, model_text(load_transformer(file.name)));
    } else if (field.key == "zero") {
        for (const char* const stage : {"0", "1", "2", "3"}) offer(stage, stage);
    } else if (field.key == "overlap_gradients") {
        field.otherwise = "by framework";
    } else if (field.key == "layout.data") {
        field.otherwise.clear();  // it follows from the nodes
    }
}

// Axes of the rank grid, innermost first, and then what is cut out of these.
std::vector<std::string> axis_keys() {
    std::vector<const Scheme*> schemes = schemes_by_place();
    std::stable_partition(schemes.begin(), schemes.end(),
                          [](const Scheme* scheme) { return scheme->ranks != Scheme::Ranks::shared; });
    return list_of<std::string>(schemes, [&](const Scheme* scheme) { return "layout." + std::string(scheme->axis); });
}

constexpr std::string_view layout_heading = "Layout: ranks along each axis";

// The keys whose rows say that they stand under the heading.
std::vector<std::string> keys_under(std::string_view heading) {
    auto keys = list_of_those<JobKey>(all_keys(), [&](const JobKey& key) { return key.heading == heading; });
    std::ranges::stable_sort(keys, {}, &JobKey::place);
    std::vector<std::string> paths = heading == layout_heading ? axis_keys() : std::vector<std::string>();
    for (const JobKey& key : keys) paths.push_back(key.path);
    return paths;
}

// The comment that a job file begins with.
std::string summary_of(std::string_view text) {
    std::string summary;
    while (text.starts_with("//")) {
        const std::string_view line = text.substr(0, text.find('\n'));
        summary += line.substr(2);
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return summary.empty() ? summary : summary.substr(1);
}

}  // namespace

FormChoices form_choices() {
    const Reference reference = make_reference("job");
    const Keys keys = every_key(reference);
    FormChoices choices;
    std::set<std::string> grouped;
    for (const std::string_view heading : {std::string_view("Model and machine"), layout_heading,
                                           std::string_view("Batch"), std::string_view("Framework and step")}) {
        FormGroup& group = choices.groups.emplace_back(FormGroup{.title = std::string(heading), .fields = {}});
        for (const std::string& key : keys_under(heading)) {
            complete(group.fields.emplace_back(field_of(reference, key, *keys.at(key))));
            grouped.insert(key);
        }
    }
    for (const auto& [key, record] : keys) {
        const bool one_of_many = key.find_first_of("[*(") != std::string::npos || record->takes.empty();
        if (!grouped.contains(key) && !one_of_many) choices.others.push_back(field_of(reference, key, *record));
    }
    for (const embedded::File& file : embedded::jobs()) {
        choices.jobs.push_back({std::string(file.name), summary_of(file.text), parameters_of(file.text)});
    }
    return choices;
}

}  // namespace weft
