#include "workloads/formats/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "models/transformer/transformer.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/files.hpp"
#include "sim/io/shipped.hpp"
#include "topologies/machine.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/job/job.hpp"

namespace weft {
namespace {

// Of JSON's object "weft". Bad JSON is its reader's to refuse.
void add_own_members(const SourceFile& file, std::vector<std::string>& assignments) {
    if (!is_json_object(file.text) || !contains(file.text, "\"weft\"")) return;
    try {
        const Field root = Document::parse(file.path, file.text).root();
        if (!root.is_object("weft")) return;
        Field own = Field(root).object("weft");
        for (const std::string& key : own.keys()) {
            if (own.is_text(key)) assignments.push_back(key + "=" + own.text(key));
        }
    } catch (const ConfigError&) {
        return;
    }
}

// The options with what `weft export` adds to a file (workloads/exports).
FormatOptions completed(const FormatOptions& said, std::span<const SourceFile> files) {
    std::vector<std::string> own;
    for (const SourceFile& file : said.alone ? std::span<const SourceFile>() : files) {
        const std::vector<std::string> assignments = own_assignments(file);
        own.insert(own.end(), assignments.begin(), assignments.end());
    }
    const FormatOptions of_files = format_options(own);
    FormatOptions options = said;
    if (said.machine.empty()) options.machine = of_files.machine;
    if (said.nodes == 0) options.nodes = of_files.nodes;
    if (said.gpus == 0) options.gpus = of_files.gpus;
    if (said.model.empty()) options.model = of_files.model;
    if (said.vocabulary == 0) options.vocabulary = of_files.vocabulary;
    options.overrides.insert(options.overrides.begin(), of_files.overrides.begin(), of_files.overrides.end());
    return options;
}

std::vector<Diagnostic> errors_of(const Import& import) {
    std::vector<Diagnostic> errors;
    for (const FormatNote& note : import.notes) {
        if (note.severity != FormatNote::Severity::error) continue;
        errors.push_back(
            {.file = note.origin.file, .line = note.origin.line, .key = note.origin.key, .message = note.message});
    }
    return errors;
}

void add_parameters(Import& import, const Transformer& model) {
    import.facts.push_back({"parameters", fmt::format("{}", parameters(model))});
    import.facts.push_back({"active_parameters", fmt::format("{}", active_parameters(model))});
}

void require(Import& import, std::string_view key, std::string_view option) {
    if (import.object.has(key)) return;
    import.error(unwritten(std::string(key)), "the input does not say it; give {}", option);
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
    inner->set_json(path, json, in_file("--set"));
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

// A model on a machine is a job.
void put_on_machine(Import& import, const FormatOptions& options, const SourceFile& file) {
    Draft model = std::exchange(import.object, {});
    if (!model.has("name")) model.set("name", std::filesystem::path(file.path).stem().string(), in_file(file.path));
    import.object.object("model") = std::move(model);
    assume_run(import, options);
}

void put_options(Import& import, const FormatOptions& options) {
    Draft& object = import.object;
    if (import.kind == FormatKind::job) {
        if (!options.machine.empty()) {
            const std::string name = meant(embedded::machines(), "machine", options.machine, {});
            object.set("machine", is_path(name) ? std::filesystem::absolute(name).string() : name,
                       in_file("--machine"));
        }
        if (options.nodes > 0) object.set("nodes", options.nodes, in_file("--nodes"));
        if (options.gpus > 0) object.set("gpus", options.gpus, in_file("--gpus"));
        if (!options.model.empty()) put_model(import, options, in_file("--model"));
    }
    for (const std::string& assignment : options.overrides) assign(object, assignment);
}

void check_job_draft(Import& import, const std::string& name) {
    if (!import.has_errors()) {
        require(import, "machine", "--machine MACHINE");
        require(import, "model", "--model MODEL (a name of the catalog, a model file or a config.json)");
    }
    if (!import.object.has("machine") || !import.object.has("model")) return;
    const Study study = read_study(import.object.document(name));
    Transformer model = study.job.model;  // as the tensor ranks together hold it
    model.vocabulary = static_cast<std::uint32_t>(padded_vocabulary(model, study.job.layout.tensor));
    model.vocabulary_multiple = 1;
    add_parameters(import, model);
}

// Puts the options into the object, has weft's own reader check it, and adds facts: of models and jobs "parameters" and
// "active_parameters". What is missing and only the user can say becomes an error among the notes. Throws ConfigError
// for the rest, at the places of the input. `path`: of the input, which names the object.
void finish_import(Import& import, const FormatOptions& options, const std::string& path) {
    put_options(import, options);
    if (import.kind == FormatKind::model) add_parameters(import, transformer_of(import.object.document(path)));
    if (import.kind == FormatKind::job) check_job_draft(import, path);
    if (import.kind == FormatKind::machine) Machine::read(import.object.document(path));
}

}  // namespace

std::string_view SourceFile::name() const {
    const std::string_view whole(path);
    return whole.substr(whole.find_last_of('/') + 1);  // npos + 1 is 0
}

bool Import::has_errors() const {
    return std::ranges::any_of(notes, [](const FormatNote& n) { return n.severity == FormatNote::Severity::error; });
}

std::vector<SourceFile> read_sources(std::span<const std::string> paths) {
    std::vector<SourceFile> files;
    for (const std::string& path : paths) {
        files.push_back({path, read_text(path)});
        const std::size_t zero = files.back().text.find('\0');
        if (zero != std::string::npos && files.back().text.find_first_not_of('\0') == std::string::npos)
            refuse_file(path, "holds nothing but NUL characters");
        if (files.back().text.empty()) refuse_file(path, "is empty");
    }
    return files;
}

const Format* find_format(const SourceFile& file) {
    return first_of(formats::all(), [&](const Format* format) { return format->recognises(file); });
}

const Format& format_of(std::span<const SourceFile> files, std::string_view from) {
    if (!from.empty()) return find_named(formats::all(), from);
    const Format* format = nullptr;
    for (const SourceFile& file : files) {
        const Format* const found = find_format(file);
        if (found == nullptr)
            refuse_file(file.path, "is of no known format; --from NAME says which: " + titles(formats::all()));
        if (format != nullptr && found != format) {
            refuse_file(file.path, fmt::format("is a {}, the files before are of another format ({})", found->title,
                                               format->title));
        }
        format = found;
    }
    if (format == nullptr) refuse_file({}, "no file to import");
    return *format;
}

Import import_files(const Format& format, std::span<const SourceFile> files, const FormatOptions& said) {
    if (format.read == nullptr)
        refuse_file(files.front().path, fmt::format("is {}: {}", format.refusal, format.instead));
    if (!format.refusal.empty() && files.size() > 1) refuse_file(files[1].path, std::string(format.refusal));
    const FormatOptions options = completed(said, files);
    Import import = format.read(files, options);
    std::vector<Diagnostic> errors = errors_of(import);
    const std::vector<Diagnostic> refused = errors;
    const auto is_told = [&](const Diagnostic& later) {
        return std::ranges::any_of(refused, [&](const Diagnostic& each) { return contains(later.key, each.key); });
    };
    try {
        if (import.kind == FormatKind::model && !options.machine.empty())
            put_on_machine(import, options, files.front());
        finish_import(import, options, files.front().path);
        errors = errors_of(import);
    } catch (const ConfigError& error) {
        // Of what is refused already, what another key says on a line: the rest may be missing because of that.
        for (const Diagnostic& each : error.diagnostics()) {
            if (refused.empty() || (each.line > 0 && !is_told(each))) errors.push_back(each);
        }
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
    return import;
}

std::vector<std::string> own_assignments(const SourceFile& file) {
    constexpr std::string_view mark = "# weft: ";
    std::vector<std::string> assignments;
    each_line(file.text, [&](std::string_view line, int) {
        if (line.starts_with(mark)) assignments.emplace_back(line.substr(mark.size()));
        return true;
    });
    add_own_members(file, assignments);
    return assignments;
}

void assume_run(Import& import, const FormatOptions& options, std::uint32_t positions) {
    using namespace std::string_literals;
    import.kind = FormatKind::job;
    constexpr std::uint32_t usual = 4096;
    const std::string sequence = fmt::format("batch.sequence={}", positions > 0 ? std::min(positions, usual) : usual);
    for (const std::string& assignment : {"framework=megatron"s, "precision=bf16"s, sequence, "batch.global=1024"s}) {
        const std::size_t equals = assignment.find('=');
        assign(import.object, assignment);
        if (const std::string key = assignment.substr(0, equals); !overridden_by_user(options, key))
            import.note(unwritten(key), "{} is assumed; --set {} says another", assignment.substr(equals + 1),
                        assignment);
    }
}

std::string to_text(const FormatNote& note) {
    std::string place = note.origin.file;
    if (note.origin.line > 0) place += fmt::format(":{}", note.origin.line);
    return fmt::format("{}{}{}: {}{}{}", place, place.empty() ? "" : ": ", enumerator_name(note.severity),
                       note.origin.key, note.origin.key.empty() ? "" : ": ", note.message);
}

}  // namespace weft
