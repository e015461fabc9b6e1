#include "workloads/formats/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/transformer/transformer.hpp"
#include "sim/io/text_file.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/formats/result.hpp"
#include "workloads/job/own_keys.hpp"

namespace weft {
namespace {

[[noreturn]] void refuse(std::string file, std::string message) {
    throw ConfigError({Diagnostic{.file = std::move(file), .key = {}, .message = std::move(message)}});
}

std::string known_formats() {
    std::string text;
    for (const Format* const format : formats::all()) {
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", format->name, format->title);
    }
    return text;
}

const Format& named_format(std::string_view name) {
    std::vector<std::string> names;
    for (const Format* const format : formats::all()) {
        if (format->name == name) return *format;
        names.emplace_back(format->name);
    }
    refuse({},
           fmt::format("unknown format \"{}\"{}; expected one of {}", name, suggestion(name, names), known_formats()));
}

Diagnostic to_diagnostic(const FormatNote& note) {
    return {.file = note.origin.file, .line = note.origin.line, .key = note.origin.key, .message = note.message};
}

// The same of JSON's object "weft". Bad JSON is its reader's to refuse.
void add_own_members(const SourceFile& file, std::vector<std::string>& assignments) {
    const bool is_json = file.text.find_first_not_of(" \t\r\n") == file.text.find('{');
    if (!is_json || file.text.find("\"weft\"") == std::string::npos) return;
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

// The options with what `weft export` adds to a file (workloads/own_keys).
FormatOptions completed(const FormatOptions& said, std::span<const SourceFile> files) {
    std::vector<std::string> own;
    for (const SourceFile& file : files) {
        const std::vector<std::string> comments = own_assignments(file.text);
        own.insert(own.end(), comments.begin(), comments.end());
        add_own_members(file, own);
    }
    FormatOptions options = format_options(own);
    if (!said.machine.empty()) options.machine = said.machine;
    if (said.nodes > 0) options.nodes = said.nodes;
    if (!said.model.empty()) options.model = said.model;
    if (said.vocabulary > 0) options.vocabulary = said.vocabulary;
    options.like = said.like;
    options.variables = said.variables;
    options.overrides.insert(options.overrides.end(), said.overrides.begin(), said.overrides.end());
    return options;
}

void throw_errors(const Import& import) {
    std::vector<Diagnostic> errors;
    for (const FormatNote& note : import.notes) {
        if (note.severity == FormatNote::Severity::error) errors.push_back(to_diagnostic(note));
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

}  // namespace

std::string_view to_text(FormatKind kind) {
    switch (kind) {
        case FormatKind::model:
            return "model";
        case FormatKind::job:
            return "job";
        case FormatKind::machine:
            return "machine";
        case FormatKind::trace:
            return "trace";
    }
    return {};
}

std::string_view SourceFile::name() const {
    const std::string_view whole(path);
    return whole.substr(whole.find_last_of('/') + 1);  // npos + 1 is 0
}

void Import::note(FormatNote::Severity severity, Origin origin, std::string message) {
    notes.push_back({severity, std::move(origin), std::move(message)});
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
            refuse(path, "holds nothing but NUL characters");
        if (files.back().text.empty()) refuse(path, "is empty");
    }
    return files;
}

const Format* find_format(const SourceFile& file) {
    const auto known = formats::all();
    const auto found = std::ranges::find_if(known, [&](const Format* format) { return format->recognises(file); });
    return found == known.end() ? nullptr : *found;
}

const Format& format_of(std::span<const SourceFile> files, std::string_view from) {
    if (!from.empty()) return named_format(from);
    const Format* format = nullptr;
    for (const SourceFile& file : files) {
        const Format* const found = find_format(file);
        if (found == nullptr) refuse(file.path, "is of no known format; --from NAME says which: " + known_formats());
        if (format != nullptr && found != format) {
            refuse(file.path,
                   fmt::format("is a {}, the files before are of another format ({})", found->title, format->title));
        }
        format = found;
    }
    if (format == nullptr) refuse({}, "no file to import");
    return *format;
}

Import import_files(const Format& format, std::span<const SourceFile> files, const FormatOptions& said) {
    const FormatOptions options = completed(said, files);
    Import import = format.read(files, options);
    throw_errors(import);
    finish_import(import, options, files.front().path);
    throw_errors(import);
    return import;
}

}  // namespace weft
