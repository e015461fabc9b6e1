#include "workloads/formats/result.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "models/transformer/transformer.hpp"
#include "sim/io/document.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "topologies/machine.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/job/job.hpp"

namespace weft {
namespace {

void add_parameters(Import& import, const Transformer& model) {
    import.facts.push_back({"parameters", fmt::format("{}", parameters(model))});
    import.facts.push_back({"active_parameters", fmt::format("{}", active_parameters(model))});
}

void require(Import& import, std::string_view key, std::string_view option) {
    if (import.object.has(key)) return;
    import.note(FormatNote::Severity::error, {.file = {}, .line = 0, .key = std::string(key)},
                fmt::format("the input does not say it; give {}", option));
}

// Overrides one value: "key.path=value", the value JSON or else a text.
void assign(Draft& object, std::string_view assignment) {
    const std::size_t equals = assignment.find('=');
    Document value = Document::parse("--set", "{}");
    value.assign("value=" + std::string(equals == std::string_view::npos ? "" : assignment.substr(equals + 1)));
    std::string_view path = assignment.substr(0, equals);
    Draft* inner = &object;
    const auto goes_on = [&] { return path.find('.') != std::string_view::npos && !inner->has("extends"); };
    while (goes_on()) {
        const std::size_t dot = path.find('.');
        inner = &inner->object(path.substr(0, dot));
        path.remove_prefix(dot + 1);
    }
    const std::string json = value.root().member("value").as_json();
    inner->set_json(path, json, {.file = "--set", .line = 0, .key = {}});
}

// A model of weft by its name or path, one of another tool as the object that it comes to.
void put_model(Import& import, const FormatOptions& options, Origin origin) {
    const std::string name = meant(embedded::catalog(), "model", options.model, {});
    if (!is_path(name)) return import.object.set("model", name, std::move(origin));
    const std::vector<SourceFile> files = read_sources(std::span(&name, 1));
    const Format* const format = find_format(files.front());
    if (format == nullptr) {
        return import.object.set("model", std::filesystem::absolute(name).string(), std::move(origin));
    }
    FormatOptions of_model;
    of_model.vocabulary = options.vocabulary;
    Import model = import_files(*format, files, of_model);
    if (!model.object.has("name")) model.object.set("name", std::filesystem::path(name).stem().string(), origin);
    import.object.object("model") = std::move(model.object);
    for (FormatNote& note : model.notes) import.notes.push_back(std::move(note));
}

void put_options(Import& import, const FormatOptions& options) {
    const auto said = [](std::string word) { return Origin{.file = std::move(word), .line = 0, .key = {}}; };
    Draft& object = import.object;
    if (import.kind == FormatKind::job) {
        if (!options.machine.empty()) {
            const std::string name = meant(embedded::machines(), "machine", options.machine, {});
            object.set("machine", is_path(name) ? std::filesystem::absolute(name).string() : name, said("--machine"));
        }
        if (options.nodes > 0) object.set("nodes", options.nodes, said("--nodes"));
        if (!options.model.empty()) put_model(import, options, said("--model"));
    }
    for (const std::string& assignment : options.overrides) assign(object, assignment);
}

void check_model(Import& import, const std::string& name) {
    Document document = import.object.document(name);
    extend(document.root(), open_model);
    const Transformer model = read_transformer(document.root(), std::filesystem::path(name).stem().string());
    document.check();
    add_parameters(import, model);
}

void check_job_draft(Import& import, const std::string& name) {
    require(import, "machine", "--machine MACHINE");
    require(import, "model", "--model MODEL (a name of the catalog, a model file or a config.json)");
    if (import.has_errors()) return;
    const Study study = read_study(import.object.document(name));
    Transformer model = study.job.model;  // as the tensor ranks together hold it
    model.vocabulary = static_cast<std::uint32_t>(padded_vocabulary(model, study.job.layout.tensor));
    model.vocabulary_multiple = 1;
    add_parameters(import, model);
}

}  // namespace

void finish_import(Import& import, const FormatOptions& options, const std::string& path) {
    put_options(import, options);
    switch (import.kind) {
        case FormatKind::model:
            return check_model(import, path);
        case FormatKind::job:
            return check_job_draft(import, path);
        case FormatKind::machine:
            Machine::read(import.object.document(path));
            return;
        case FormatKind::trace:
            return;
    }
}

}  // namespace weft
