#include "tools/page/inputs.hpp"

#include <nlohmann/json.hpp>

#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "sim/io/units.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"

namespace weft {
namespace {

void collect(const Json& json, const std::string& path, const std::string& file, std::vector<Source>& sources) {
    if (json.is_object()) {
        const auto source = json.find("source");
        if (source != json.end() && source->is_string()) sources.push_back({file, path, source->get<std::string>()});
    }
    if (!json.is_structured()) return;
    for (const auto& [key, value] : json.items()) {
        collect(value, path.empty() ? key : path + '.' + key, file, sources);
    }
}

void add_file(std::span<const embedded::File> shipped, const std::string& name, std::vector<Source>& sources) {
    auto document = find_shipped(shipped, name);
    if (!document) return;
    extend(document->document.root(),
           [shipped](const std::string& base) { return open_shipped(shipped, "file", base).document; });
    const Json json = Json::parse(document->document.text(), nullptr, false);
    collect(json, "", is_path(name) ? name : std::string(document->document.name()), sources);
}

std::string shapes_text(const Transformer& model) {
    std::string text = fmt::format("{} layers, hidden {}, {} heads of {}", model.own_layers(), model.hidden,
                                   model.heads, model.head_size);
    if (model.kv_heads != model.heads) text += fmt::format(" ({} of keys and values)", model.kv_heads);
    text += fmt::format(", MLP {}{}, vocabulary {}", model.ffn_hidden, model.gated ? " gated" : "", model.vocabulary);
    if (model.experts.count > 0) {
        text += fmt::format(", {} experts of {}, {} per token", model.experts.count, model.experts.ffn_hidden,
                            model.experts.top_k);
        if (model.experts.shared > 0) text += fmt::format(" and {} shared", model.experts.shared);
    }
    for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
        std::uint32_t layers = 0;
        for (std::uint32_t layer = 0; layer < model.layers; ++layer)
            layers += &layer_of(model, layer_kind(model, layer)) == &model.kinds[kind].layer ? 1 : 0;
        const NamedLayer& own = model.kinds[kind];
        text += fmt::format(", {} layers {} ({})", layers, own.name, enumerator_name(own.layer.mixer));
    }
    return text;
}

std::string resolved(const Plan& plan) {
    const Job& job = plan.job;
    TextTable table({"<", "<"});
    table.add({"machine", plan.machine.title});
    table.add({"nodes",
               fmt::format("{} of {}, with {} accelerators each", job.nodes, plan.machine.nodes, job.ranks_per_node)});
    table.add({"device", fmt::format("{}: {} at the job's precision, {}, {}", plan.device.title,
                                     to_text(plan.device.peak(job.precision)), to_text(plan.device.memory),
                                     to_text(plan.device.memory_bandwidth))});
    table.add({"model", job.model.name + ": " + shapes_text(job.model)});
    table.add({"layout", axes(job.layout) + fmt::format(", innermost first: {}", fmt::join(job.layout.order, ", "))});
    table.add({"batch", fmt::format("{} sequences of {} tokens in {} micro-batches of {} per data rank",
                                    job.batch.global, job.batch.sequence, job.micro_batches(), job.batch.micro)});
    table.add({"library", job.library.empty() ? plan.machine.library().name : job.library});
    return html_table("As it was understood.", table);
}

std::string source_table(const JobInput& input, const Plan& plan) {
    TextTable table({"<file", "<what", "<source"});
    for (const Source& source : sources(input, plan)) table.add({source.file, source.what, source.text});
    if (table.rows.empty()) return "";
    return html_details(fmt::format("Sources of {} constants", table.rows.size()),
                        html_table("As the data files state them.", table));
}

std::string job_text(const JobInput& input) {
    const auto json = Json::parse(input.text, nullptr, false);
    return json.is_discarded() ? input.text : json.dump(2);
}

}  // namespace

std::vector<Source> sources(const JobInput& job, const Plan& plan) {
    const Json json = Json::parse(job.text, nullptr, false);
    const auto named = [&](std::span<const embedded::File> shipped, const char* key) {
        if (!json.is_object() || !json.contains(key)) return std::string();
        const Json& value = json[key];  // one that extends another has most figures from there
        const std::string name = value.is_object()   ? value.value("extends", "")
                                 : value.is_string() ? value.get<std::string>()
                                                     : std::string();
        return name.empty() ? name : meant(shipped, key, name, job.folder);
    };
    std::vector<Source> all;
    add_file(embedded::machines(), named(embedded::machines(), "machine"), all);
    add_file(embedded::devices(), plan.machine.device, all);
    const std::string model = named(embedded::catalog(), "model");
    if (!is_path(model) || model.ends_with(".json")) add_file(embedded::catalog(), model, all);
    return all;
}

std::string note_list(std::span<const FormatNote> notes) {
    if (notes.empty()) return "";
    const auto texts = list_of<std::string>(notes, [&](const FormatNote& note) { return to_text(note); });
    return html_details(fmt::format("{} notes on what was read", notes.size()), "<ul>" + html_items(texts) + "</ul>");
}

std::string input_tables(const Simulation& run, const JobInput& input) {
    return note_list(input.notes) + resolved(run.plan) + source_table(input, run.plan) +
           html_details("The job, overrides applied", "<pre>" + xml_escaped(job_text(input)) + "</pre>");
}

}  // namespace weft
