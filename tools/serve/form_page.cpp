#include "tools/serve/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/inputs.hpp"

namespace weft {
namespace {

using Input = FormField::Input;

std::string encoded(std::string_view text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._*";
    std::string out;
    for (const char c : text) {
        out += plain.find(c) != plain.npos ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
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
    std::string meaning = field.meaning;
    std::erase(meaning, '`');  // the marks of its code
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
    html.add("<span id=\"about-{}\" hidden>{}: {}</span></div>", key, key, xml_escaped(meaning));
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

// The choices of a key outside the form.
void add_select(HtmlText& html, const FormChoices& choices, std::string_view key, const std::string& value) {
    html.add("<select name=\"{}\">", key);
    for (const FormGroup& group : choices.groups) {
        const auto field = std::ranges::find(group.fields, key, &FormField::key);
        if (field != group.fields.end()) add_choices(html, *field, value);
    }
    html.put("</select>");
}

// Questions in a line each, about what the form says. `view`: of job_form.js, in which the answer is shown.
void add_questions(HtmlText& html, const FormChoices& choices, const Parameters& values) {
    html.put("<section class=\"questions\"><h2>Three questions</h2>");
    const auto ask = [&](std::string_view view, std::string_view question, std::string_view button) {
        html.put(
            fmt::format("<form method=\"get\" action=\"/ask#{}\" class=\"controls\" autocomplete=\"off\"><h3>{}</h3>"
                        "<label>of ",
                        view, question));
        add_select(html, choices, "model", value_of(values, "model"));
        html.put("</label><label>on ");
        add_select(html, choices, "machine", value_of(values, "machine"));
        const std::string gpus = value_of(values, "gpus");
        html.add(
            "</label><label>with <input name=\"gpus\" inputmode=\"numeric\" size=\"7\" value=\"{}\" required> GPUs"
            "</label><button>{}</button></form>",
            gpus.empty() ? "64" : xml_escaped(gpus), button);
    };
    ask("simulate", "How long does a step take", "Simulate");
    ask("plan", "Which layout is the fastest", "Search");
    html.put(
        fmt::format("<form method=\"get\" action=\"/#explain\" class=\"controls\"><h3>Where does the time go, and what "
                    "would help</h3><label>in <select name=\"{}\">",
                    asked_job));
    for (const StartingJob& job : choices.jobs) html.add("<option>{}</option>", xml_escaped(job.name));
    html.add("</select></label><button>Explain</button></form></section><h2>Or any job</h2>");
}

// What another tool launches, or a job file, to be read into the form, with what such a text does not say.
void add_paste(HtmlText& html, const FormChoices& choices) {
    html.put(
        "<details class=\"data\"><summary>Begin with a launch script or configuration</summary>"
        "<form method=\"post\" action=\"/\" autocomplete=\"off\"><div class=\"controls\"><label>machine ");
    add_select(html, choices, "machine", "");
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

std::string query_of(const Parameters& values) {
    const auto said = [](const auto& each) { return encoded(each.first) + "=" + encoded(each.second); };
    return fmt::format("{}", fmt::join(list_of<std::string>(values, said), "&"));
}

std::string form_page(const FormChoices& choices, const Parameters& said, const std::optional<StartingJob>& own,
                      std::span<const FormatNote> notes) {
    const Parameters values = last_said(said);
    HtmlText html;
    html.add("<p class=\"lead\">A training step on a machine that you choose, simulated here and now.</p>");
    add_questions(html, choices, values);
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
