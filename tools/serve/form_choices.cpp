#include "tools/serve/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "models/transformer/transformer.hpp"
#include "sim/io/embedded.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/inputs.hpp"
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
    std::vector<const JobKey*> keys;
    for (const JobKey& key : all_keys()) {
        if (key.heading == heading) keys.push_back(&key);
    }
    std::ranges::stable_sort(keys, {}, &JobKey::place);
    std::vector<std::string> paths = heading == layout_heading ? axis_keys() : std::vector<std::string>();
    for (const JobKey* key : keys) paths.push_back(key->path);
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

std::string encoded(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._*";
    std::string out;
    for (const char c : text) {
        if (plain.find(c) != std::string_view::npos) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

// Each key once, with what is said of it last.
Parameters last_said(const Parameters& values) {
    std::map<std::string_view, std::size_t> places;
    Parameters last;
    for (const auto& [key, value] : values) {
        const auto [place, is_new] = places.try_emplace(key, last.size());
        if (is_new) last.emplace_back(key, value);
        last[place->second].second = value;
    }
    return last;
}

std::string value_of(const Parameters& values, const std::string& key) {
    const auto found = std::ranges::find(values, key, &Parameters::value_type::first);
    return found == values.end() ? std::string() : found->second;
}

// "layout.tensor" under the heading of its group is "tensor".
std::string label_of(const FormField& field, bool whole) {
    if (whole) return field.key;
    std::string text = field.key.substr(field.key.rfind('.') + 1);  // npos + 1 is 0
    std::ranges::replace(text, '_', ' ');
    return text;
}

// A meaning without the marks of its code.
std::string plain_meaning(std::string text) {
    std::erase(text, '`');
    return text;
}

void add_choices(HtmlText& html, const FormField& field, const std::string& value) {
    html.add("<option value=\"\">{}</option>",
             xml_escaped(field.otherwise.empty() ? "not said" : field.otherwise + " (default)"));
    bool known = value.empty();
    for (const auto& [choice, text] : field.choices) {
        const bool chosen = choice == value;
        known = known || chosen;
        html.add("<option value=\"{}\"{}>{}</option>", xml_escaped(choice), chosen ? " selected" : "",
                 xml_escaped(text));
    }
    if (known) return;
    html.add("<option value=\"{}\" selected>{}</option>", xml_escaped(value),
             value.starts_with('{') ? "as the job writes it" : xml_escaped(value));
}

void add_field(HtmlText& html, const FormField& field, const std::string& value, bool whole) {
    const std::string key = xml_escaped(field.key);
    html.put(
        fmt::format("<div class=\"field\"><label for=\"of-{}\">{}</label>", key, xml_escaped(label_of(field, whole))));
    const std::string common = fmt::format("id=\"of-{0}\" name=\"{0}\" aria-describedby=\"about-{0}\"", key);
    if (field.input == Input::choice) {
        html.add("<select {}>", common);
        add_choices(html, field, value);
        html.put("</select>");
    } else {
        html.put(fmt::format("<input {} {} value=\"{}\" placeholder=\"{}\">", common,
                             field.input == Input::number ? "inputmode=\"numeric\"" : "", xml_escaped(value),
                             xml_escaped(field.otherwise)));
    }
    html.add("<span id=\"about-{}\" hidden>{}: {}</span></div>", key, key, xml_escaped(plain_meaning(field.meaning)));
}

void add_jobs(HtmlText& html, const FormChoices& choices, const std::optional<StartingJob>& own) {
    html.put("<details class=\"data\"><summary>Begin with another job</summary><ul>");
    const auto add = [&](const StartingJob& job) {
        html.add("<li><a href=\"/?{}\">{}</a>{}</li>", xml_escaped(query_of(job.parameters)), xml_escaped(job.name),
                 job.summary.empty() ? "" : ": " + xml_escaped(job.summary));
    };
    if (own) add(*own);
    for (const StartingJob& job : choices.jobs) add(job);
    html.add("</ul></details>");
}

// What another tool launches, or a job file, to be read into the form, with what such a text does not say.
void add_paste(HtmlText& html, const FormChoices& choices) {
    html.put(
        "<details class=\"data\"><summary>Begin with a launch script or configuration</summary>"
        "<form method=\"post\" action=\"/\" autocomplete=\"off\"><div class=\"controls\"><label>machine ");
    for (const FormGroup& group : choices.groups) {
        const auto machine = std::ranges::find(group.fields, "machine", &FormField::key);
        if (machine == group.fields.end()) continue;
        html.put("<select name=\"machine\">");
        add_choices(html, *machine, "");
        html.put("</select>");
    }
    html.add(
        "</label><label>nodes <input name=\"nodes\" inputmode=\"numeric\"></label>"
        "<label>vocabulary <input name=\"model.vocabulary\" inputmode=\"numeric\"></label><button>Read</button></div>"
        "<textarea name=\"{}\" rows=\"12\" aria-label=\"Text to read\" placeholder=\"#!/bin/bash of Megatron-LM, YAML "
        "of "
        "GPT-NeoX, TOML of torchtitan, config.json of Hugging Face, ...\"></textarea></form></details>",
        pasted_name);
}

// Keys of the values that are in no group.
void add_others(HtmlText& html, const FormChoices& choices, const Parameters& values) {
    html.put("<fieldset><legend>Other keys</legend><div class=\"fields\" id=\"others\">");
    for (const auto& [key, value] : values) {
        const bool in_a_group = std::ranges::any_of(choices.groups, [&, &name = key](const FormGroup& group) {
            return std::ranges::find(group.fields, name, &FormField::key) != group.fields.end();
        });
        if (in_a_group || value.empty()) continue;
        const auto known = std::ranges::find(choices.others, key, &FormField::key);
        add_field(html, known == choices.others.end() ? FormField{.key = key, .meaning = ""} : *known, value, true);
    }
    html.put(
        "</div><div class=\"controls\"><label>Another key <input id=\"another\" list=\"keys\"></label>"
        "<button type=\"button\" id=\"add\">Add</button></div><datalist id=\"keys\">");
    for (const FormField& field : choices.others) html.put("<option value=\"" + xml_escaped(field.key) + "\">");
    html.add("</datalist></fieldset>");
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

std::string query_of(const Parameters& values) {
    std::string query;
    for (const auto& [key, value] : values) {
        query += (query.empty() ? "" : "&") + encoded(key) + "=" + encoded(value);
    }
    return query;
}

std::string form_page(const FormChoices& choices, const Parameters& said, const std::optional<StartingJob>& own,
                      std::span<const FormatNote> notes) {
    const Parameters values = last_said(said);
    HtmlText html;
    html.add("<p class=\"lead\">A training step on a machine that you choose, simulated here and now.</p>");
    add_jobs(html, choices, own);
    add_paste(html, choices);
    html.put(note_list(notes));
    html.add(
        "<form id=\"job\" method=\"get\" action=\"/simulate\" target=\"result\" autocomplete=\"off\">"
        "<div class=\"groups\">");
    for (const FormGroup& group : choices.groups) {
        html.add("<fieldset><legend>{}</legend><div class=\"fields\">", xml_escaped(group.title));
        for (const FormField& field : group.fields) add_field(html, field, value_of(values, field.key), false);
        html.add("</div></fieldset>");
    }
    add_others(html, choices, values);
    html.add("</div><p id=\"about\" class=\"quiet\"></p>");
    html.add(
        "<div class=\"controls\" role=\"group\" aria-label=\"What is shown\">"
        "<button formaction=\"/simulate\">Step</button><button formaction=\"/explain\">Explanation</button>"
        "<button formaction=\"/plan\">Plan</button>"
        "<button formaction=\"/job.json\" formtarget=\"_self\" id=\"save\">Save as job.json</button></div></form>");
    html.add("<div id=\"mistakes\" role=\"alert\"></div><p id=\"told\" role=\"status\" class=\"bottleneck\"></p>");
    html.add("<iframe id=\"result\" name=\"result\" title=\"Result\"></iframe>");
    return html_page({.title = "weft", .body = html.take(), .scripts = {"job_form"}, .styles = {"job_form"}});
}

}  // namespace weft
