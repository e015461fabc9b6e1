#include "workloads/formats/job_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "sim/io/embedded.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/files.hpp"
#include "sim/io/shipped.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

OpenedJob assumed_job(std::span<const std::string> overrides) {
    Import import;
    const FormatOptions options = format_options(overrides);
    const bool is_shipped = find_called(embedded::catalog(), options.model) != nullptr;
    assume_run(import, options, is_shipped ? load_model(options.model).positions_length : 0);
    OpenedJob job{import.object.document("command line"), std::move(import.notes)};
    for (const std::string& assignment : overrides) job.document.assign(assignment);
    return job;
}

// As many GPUs of a DGX H100 as have room for the model with its optimizer states (16 bits, gradients and states: 18
// bytes a parameter) in half of their memory; a power of two.
std::uint64_t usual_gpus(const Transformer& model) {
    constexpr double room = 40e9, each = 18.0;
    return std::max<std::uint64_t>(std::bit_ceil(static_cast<std::uint64_t>(double(parameters(model)) * each / room)),
                                   8);
}

// A name where a file is expected: what a job is, and what works in its place.
[[noreturn]] void refuse_missing(const std::string& said) {
    std::string message =
        "is no file; a job is a JSON file with model, machine, layout and batch, or what another "
        "framework is configured with";
    const embedded::File* const model = find_called(embedded::catalog(), said);
    const embedded::File* const machine = find_called(embedded::machines(), said);
    const embedded::File* const job = find_called(embedded::jobs(), said);
    if (model != nullptr) {
        message += fmt::format(". {0} is a model: weft simulate --model {0} --machine dgx-h100 --gpus {1}", model->name,
                               usual_gpus(load_model(model->name)));
    } else if (machine != nullptr) {
        message +=
            fmt::format(". {0} is a machine: weft simulate --model llama3-8b --machine {0} --gpus 64", machine->name);
    } else if (job != nullptr) {
        message += fmt::format(". A job of that name is {} of weft's sources", job->path);
    }
    refuse_file(said, std::move(message));
}

[[noreturn]] void refuse_kind(const Import& import, const std::string& path, const Format& format,
                              std::string_view expected) {
    refuse_file(path, fmt::format("is a {} ({}), not a {}", to_text(import.kind), format.title, expected));
}

OpenedJob imported_job(const Format& format, SourceFile file, const FormatOptions& options) {
    const std::array files{std::move(file)};
    Import import = import_files(format, files, options);
    if (import.kind != FormatKind::job) refuse_kind(import, files.front().path, format, "job");
    return {import.object.document(files.front().path), std::move(import.notes)};
}

}  // namespace

FormatOptions format_options(std::span<const std::string> overrides) {
    FormatOptions options;
    for (const std::string& assignment : overrides) {
        const std::size_t equals = std::min(assignment.find('='), assignment.size() - 1);
        const std::string key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
        const bool is_name = !is_json_object(value);
        if (key == "machine" && is_name) {
            options.machine = value;
        } else if (key == "model" && is_name) {
            options.model = value;
        } else if (key == "nodes" && parse_as<std::uint32_t>(value).value_or(0) > 0) {
            options.nodes = *parse_as<std::uint32_t>(value);
        } else if (key == "gpus" && parse_as<std::uint32_t>(value).value_or(0) > 0) {
            options.gpus = *parse_as<std::uint32_t>(value);
        } else if (key == "model.vocabulary" && parse_as<std::uint32_t>(value).value_or(0) > 0) {
            options.vocabulary = *parse_as<std::uint32_t>(value);
        } else {
            options.overrides.push_back(assignment);
        }
    }
    return options;
}

std::string JobSource::read() const { return text ? *text : read_text(path); }

OpenedJob open_job(const JobSource& source, std::span<const std::string> overrides) {
    if (source.is_empty()) return assumed_job(overrides);
    std::error_code none;  // of a name that is too long for any file
    if (!source.text && !std::filesystem::exists(source.path, none)) refuse_missing(source.path.string());
    SourceFile file{source.path.string(), source.read()};
    if (const Format* const format = find_format(file)) {
        FormatOptions options = format_options(overrides);
        options.alone = source.alone;
        return imported_job(*format, std::move(file), options);
    }
    OpenedJob job{Document::parse(file.path, std::move(file.text)), {}};
    for (const std::string& assignment : overrides) job.document.assign(assignment);
    return job;
}

std::vector<std::string> overrides_in(Field set) {
    const auto assignment = [&](const std::string& key) {
        return fmt::format("{}={}", key, set.member(key).as_json());
    };
    return list_of<std::string>(set.keys(), assignment);
}

Document open_model(std::string_view said) {
    const std::string name = meant(embedded::catalog(), "model", said, {});
    if (is_path(name)) {
        const std::array files{SourceFile{name, read_text(name)}};
        if (const Format* const format = find_format(files.front())) {
            const Import import = import_files(*format, files, {});
            if (import.kind != FormatKind::model) refuse_kind(import, name, *format, "model");
            return import.object.document(name);
        }
    }
    return open_shipped(embedded::catalog(), "model", name).document;
}

Transformer transformer_of(Document document) {
    extend(document.root(), open_model);
    // The file's name, and not the name said: that of "pythia-1.4b" without an ending is another.
    Transformer model = read_transformer(document.root(), std::filesystem::path(document.name()).stem().string());
    document.check();
    return model;
}

Transformer load_model(std::string_view name) { return transformer_of(open_model(name)); }

}  // namespace weft
