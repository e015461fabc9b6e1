#include "tools/serve/site.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <span>

#include "sim/base/texts.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "tools/output/figures.hpp"
#include "topologies/machine.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

std::string pretty(const Json& json) { return json.dump(2) + "\n"; }

bool extends_shipped(const Json& json) {
    const auto base = json.find("extends");
    return base != json.end() && base->is_string() && !is_path(base->get<std::string>());
}

// A file that the job names, or changes, as an object in its place.
void put_in_place(Json& job, const char* key, std::span<const embedded::File> shipped, const std::string& job_name,
                  Document (*open)(std::string_view)) {
    if (!job.contains(key)) return;
    Json& said = job[key];
    const Json name = said.is_object() && said.contains("extends") ? said["extends"] : said;
    if (!name.is_string()) return;
    const std::filesystem::path folder = std::filesystem::path(job_name).parent_path();
    const std::string path = meant(shipped, key, name.get<std::string>(), folder);
    if (!is_path(path)) return;
    // What changes a file is named as the job, from whose folder the path is meant.
    Document document = said.is_object() ? Document::parse(job_name, said.dump()) : open(path);
    if (said.is_object() || !extends_shipped(Json::parse(document.text()))) {
        extend(document.root(), open);
        document.check();
    }
    said = Json::parse(document.text());
}

constexpr std::array<std::string_view, 3> whole_objects{"machine", "model", "fabric.background"};

// `whole`: keys whose objects stay as they are.
void flatten(const Json& json, const std::string& path, std::span<const std::string_view> whole, Parameters& found) {
    for (const auto& [key, value] : json.items()) {
        const std::string inner = path.empty() ? key : path + "." + key;
        const bool one_value = !value.is_object() || key.find_first_of(".[=") != std::string::npos ||
                               std::ranges::find(whole, inner) != whole.end();
        if (!one_value) {
            flatten(value, inner, whole, found);
        } else if (value.is_string() && !Json::accept(value.get<std::string>())) {
            found.emplace_back(inner, value.get<std::string>());
        } else if (!value.is_null()) {
            found.emplace_back(inner, value.dump());
        }
    }
}

// What else is wrong with a job whose refused names were taken out.
void add_other_mistakes(std::string job, std::vector<Diagnostic>& refused) {
    try {
        read_study(Document::parse(requested_name, std::move(job)));
    } catch (const ConfigError& error) {
        const std::vector<Diagnostic> of_names = refused;
        for (const Diagnostic& other : error.diagnostics()) {
            if (std::ranges::count(of_names, other.key, &Diagnostic::key) == 0) refused.push_back(other);
        }
    }
}

using Files = std::span<const embedded::File>;

struct NameCheck {
    std::vector<Diagnostic> found;

    // An object that may stand in place of the name of a machine or a model, and all within it.
    void check_object(const std::string& path, Json& object, std::string_view kind, Files files) {
        if (object.is_object()) {
            for (auto& [key, value] : object.items()) {
                const std::string inner = path + "." + key, last = key.substr(key.rfind('.') + 1);  // npos + 1 is 0
                if (last == "extends") {
                    // "libraries[0].extends" may be one key, or two objects.
                    const bool of_library = inner.rfind(".libraries") != std::string::npos;
                    of_library ? check(inner, value, "library of a fabric", embedded::fabrics())
                               : check(inner, value, kind, files);
                } else if (last == "teacher") {
                    check(inner, value, "model", embedded::catalog());
                } else if (last == "device") {
                    check(inner, value, "device", embedded::devices());
                } else if (last == "tuner") {
                    check(inner, value, "tuner", embedded::tuners());
                } else {
                    check_object(inner, value, kind, files);
                }
            }
        } else if (object.is_array()) {
            for (std::size_t i = 0; i < object.size(); ++i) {
                check_object(fmt::format("{}[{}]", path, i), object[i], kind, files);
            }
        }
    }

    void check(const std::string& path, Json& value, std::string_view kind, Files files) {
        if (!value.is_string()) return check_object(path, value, kind, files);
        const auto said = value.get<std::string>();
        if (said.empty()) return;  // the reader's to refuse
        if (const embedded::File* const file = find_called(files, said)) {
            value = file->name;
            return;
        }
        value = nullptr;
        const std::vector<std::string> near = nearest_shipped(files, said);
        refuse(path, is_path(said) && near.empty()
                         ? fmt::format("expected the name of a {} that weft ships, got \"{}\": a page reads no files",
                                       kind, said)
                         : fmt::format("unknown {} \"{}\"{}", kind, said,
                                       near.empty()
                                           ? fmt::format(", expected one of {}", fmt::join(shipped_names(files), ", "))
                                           : did_you_mean(near)));
    }

    // By the words that topologies/placement takes for a file.
    void check_placement(Json& placement) {
        if (!placement.is_string()) return;
        const auto said = placement.get<std::string>();
        if (!said.starts_with("file") && said.find_first_of("/.") == std::string::npos) return;
        placement = nullptr;
        refuse("fabric.placement",
               fmt::format("expected contiguous, random, group or scatter, got \"{}\": a page reads no files", said));
    }

    void refuse(std::string key, std::string message) {
        found.push_back({.file = "job.json", .key = std::move(key), .message = std::move(message)});
    }
};

[[noreturn]] void leave_to_the_command_line(const char* key, const std::string& message, const char* command) {
    throw ConfigError({{.file = requested_name,
                        .key = key,
                        .message = fmt::format("{}; weft {} {} takes more", message, command, requested_name)}});
}

void check_ranks(const Job& job, const char* command) {
    const std::uint64_t ranks = job.layout.ranks_of_replica() * job.layout.data;
    if (ranks <= most_ranks_of_page) return;
    leave_to_the_command_line("layout",
                              fmt::format("{} ranks are more than the {} of a page", grouped(double(ranks)),
                                          grouped(double(most_ranks_of_page))),
                              command);
}

// Puts the names that files of weft have in place of other names that they go by, which a file of the working folder
// could go by as well. Takes out, with a diagnostic, every name that weft does not ship, wherever a reader would look
// for a file: machine, model and what they extend, a machine's device and tuners, and a placement from a file.
std::vector<Diagnostic> keep_to_shipped_names(Json& job) {
    NameCheck check;
    if (job.is_object()) {
        if (job.contains("machine")) check.check("machine", job["machine"], "machine", embedded::machines());
        if (job.contains("model")) check.check("model", job["model"], "model", embedded::catalog());
        if (job.contains("fabric") && job["fabric"].is_object() && job["fabric"].contains("placement")) {
            check.check_placement(job["fabric"]["placement"]);
        }
    }
    return std::move(check.found);
}

// A file of another tool with what is said beside it, whose names are weft's.
RequestedJob imported_job(const SourceFile& file, const Json& said) {
    Parameters parameters;
    flatten(said, "", {}, parameters);
    const auto overrides = list_of<std::string>(
        parameters, [](const auto& each) { return fmt::format("{}={}", each.first, each.second); });
    JobSource source(file.path);
    source.text = file.text;
    source.alone = true;
    OpenedJob job = open_job(source, overrides);
    return {pretty(Json::parse(job.document.text())), std::move(job.notes)};
}

std::optional<std::string> decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i] == '+' ? ' ' : text[i];
            continue;
        }
        constexpr int sixteen = 16;
        unsigned byte = 0;
        const std::string_view digits = text.substr(i + 1, 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, sixteen);
        if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
        plain += static_cast<char>(byte);
        i += 2;
    }
    if (!is_utf8(plain)) return std::nullopt;
    return plain;
}

}  // namespace

RequestedJob requested_job(const HttpRequest& request, const RequestTarget& target) {
    const bool is_posted = request.method == "POST";
    const SourceFile body{requested_name, request.body};
    const bool is_foreign = is_posted && find_format(body) != nullptr;
    Document said = Document::parse(requested_name, is_posted && !is_foreign ? body.text : "{}");
    if (is_foreign) {
        for (const std::string& assignment : own_assignments(body)) said.assign(assignment);
    }
    for (const auto& [key, value] : target.parameters) {
        if (!value.empty()) said.assign(key + "=" + value);
    }
    const Json as_sent = Json::parse(said.text());
    Json job = as_sent;
    if (std::vector<Diagnostic> refused = keep_to_shipped_names(job); !refused.empty()) {
        if (!is_foreign) add_other_mistakes(pretty(job), refused);
        throw ConfigError(std::move(refused));
    }
    if (is_foreign) return imported_job(body, job);
    const bool is_as_sent = is_posted && target.parameters.empty() && job == as_sent;
    return {is_as_sent ? body.text : pretty(job), {}};
}

std::string self_contained_job(Document job) {
    Json json = Json::parse(job.text());
    const std::string name(job.name());
    if (json.is_object()) {
        json.erase("$schema");
        put_in_place(json, "machine", embedded::machines(), name, open_machine);
        put_in_place(json, "model", embedded::catalog(), name, open_model);
        if (std::vector<Diagnostic> refused = keep_to_shipped_names(json); !refused.empty()) {
            for (Diagnostic& each : refused) each.file = name;
            throw ConfigError(std::move(refused));
        }
    }
    return pretty(json);
}

Parameters parameters_of(std::string_view job) {
    Parameters found;
    const Document document = Document::parse(requested_name, std::string(job));
    if (const Json json = Json::parse(document.text()); json.is_object()) flatten(json, "", whole_objects, found);
    return found;
}

void check_page_size(const Job& job) {
    check_ranks(job, "simulate");
    const double operations = expected_operations(job);
    if (operations <= most_operations_of_page) return;
    leave_to_the_command_line(
        "batch.global",
        fmt::format("{} micro-batches through {} layers are about {:.2g} operations; a page takes {:.2g}",
                    grouped(job.micro_batches()), job.model.layers, operations, most_operations_of_page),
        "simulate");
}

void check_search_size(const Job& job) {
    check_ranks(job, "plan");
    if (job.batch.global <= most_sequences_of_search) return;
    leave_to_the_command_line("batch.global",
                              fmt::format("{} sequences are more than the {} of a page", grouped(job.batch.global),
                                          grouped(double(most_sequences_of_search))),
                              "plan");
}

bool is_utf8(std::string_view text) {
    try {
        nlohmann::json(text).dump();
        return true;
    } catch (const nlohmann::json::type_error&) {
        return false;
    }
}

std::optional<RequestTarget> parse_target(std::string_view target) {
    const std::size_t mark = std::min(target.find('?'), target.size());
    const std::optional<std::string> path = decoded(target.substr(0, mark));
    if (!path) return std::nullopt;
    RequestTarget parsed{.path = *path};
    for (const std::string_view pair : parts_of(target.substr(std::min(mark + 1, target.size())), '&')) {
        if (pair.empty()) continue;
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const auto key = decoded(pair.substr(0, equals));
        const auto value = decoded(pair.substr(std::min(equals + 1, pair.size())));
        if (!key || !value) return std::nullopt;
        parsed.parameters.emplace_back(*key, *value);
    }
    return parsed;
}

}  // namespace weft
