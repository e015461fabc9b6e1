#include "tools/job_options.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"
#include "tools/digest.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft {

std::string job_path(const po::variables_map& arguments) {
    if (arguments.count("job")) return arguments["job"].as<std::string>();
    if (arguments.count("machine") && arguments.count("model")) return {};
    throw po::required_option("job");
}

std::vector<std::string> job_overrides(const po::variables_map& arguments) {
    std::vector<std::string> overrides;
    const auto add = [&](const char* option, const char* key, const std::string& value) {
        if (arguments.count(option)) overrides.push_back(fmt::format("{}={}", key, value));
    };
    // Files of the command line lie where the user is, those of a job file beside it.
    const auto name = [&](const char* option, std::span<const embedded::File> shipped) {
        if (!arguments.count(option)) return std::string();
        const std::string text = meant(shipped, option, arguments[option].as<std::string>(), {});
        return is_path(text) ? std::filesystem::absolute(text).lexically_normal().string() : text;
    };
    const auto text = [&](const char* option) {
        return arguments.count(option) ? arguments[option].as<std::string>() : std::string();
    };
    add("machine", "machine", name("machine", embedded::machines()));
    add("nodes", "nodes", text("nodes"));
    add("model", "model", name("model", embedded::catalog()));
    add("vocabulary", "model.vocabulary", text("vocabulary"));
    for (const std::string& assignment : option_texts(arguments, "set")) overrides.push_back(assignment);
    return overrides;
}

Document job_document(const po::variables_map& arguments) {
    OpenedJob job = open_job(job_path(arguments), job_overrides(arguments));
    return std::move(job.document);
}

Study job_study(const po::variables_map& arguments, Purpose purpose) {
    OpenedJob job = open_job(job_path(arguments), job_overrides(arguments));
    print_notes(job.notes);
    return read_study(std::move(job.document), purpose);
}

JobRecord job_record(const po::variables_map& arguments) {
    return {.overrides = job_overrides(arguments), .digest = input_digest(job_document(arguments))};
}

void print_job_notes(const po::variables_map& arguments) {
    print_notes(open_job(job_path(arguments), job_overrides(arguments)).notes);
}

void print_notes(std::span<const FormatNote> notes) {
    constexpr std::array<std::string_view, 3> words{"note", "warning", "error"};
    for (const FormatNote& note : notes) {
        std::string place = note.origin.file;
        if (note.origin.line > 0) place += fmt::format(":{}", note.origin.line);
        fmt::print(stderr, "{}{}{}: {}{}{}\n", place, place.empty() ? "" : ": ",
                   words.at(static_cast<std::size_t>(note.severity)), note.origin.key,
                   note.origin.key.empty() ? "" : ": ", note.message);
    }
}

std::vector<std::string> option_texts(const po::variables_map& arguments, const char* option) {
    return arguments.count(option) ? arguments[option].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::string typed_command(std::string_view command, const po::variables_map& arguments,
                          std::initializer_list<const char*> options) {
    std::string typed = fmt::format("weft {}", command);
    if (arguments.count("job")) typed += " " + job_path(arguments);
    for (const char* const option : {"machine", "nodes", "model", "vocabulary"}) {
        if (arguments.count(option)) typed += fmt::format(" --{} {}", option, arguments[option].as<std::string>());
    }
    const auto add = [&](const char* option) {
        for (const std::string& text : option_texts(arguments, option))
            typed += fmt::format(" --{} '{}'", option, text);
    };
    add("set");
    for (const char* const option : options) add(option);
    return typed;
}

JobInput job_input(std::string_view command, const po::variables_map& arguments) {
    const Document document = job_document(arguments);
    std::string typed = typed_command(command, arguments);
    if (!arguments["network"].defaulted()) typed += " --network " + arguments["network"].as<std::string>();
    return {.command = std::move(typed),
            .text = document.text(),
            .folder = std::filesystem::path(job_path(arguments)).parent_path()};
}

NetworkKind network_named(const std::string& name) {
    if (name == "flow") return NetworkKind::flow;
    if (name == "ideal") return NetworkKind::ideal;
    if (name == "free") return NetworkKind::free;
    throw po::error("--network: expected flow, ideal or free, got \"" + name + "\"");
}

NetworkKind network_option(const po::variables_map& arguments) {
    return network_named(arguments["network"].as<std::string>());
}

}  // namespace weft
