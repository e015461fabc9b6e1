#include "tools/serve/requested_job.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "tools/serve/shipped_names.hpp"
#include "topologies/machine.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/job/job.hpp"

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

void flatten(const Json& json, const std::string& path, std::vector<std::pair<std::string, std::string>>& found) {
    for (const auto& [key, value] : json.items()) {
        const std::string inner = path.empty() ? key : path + "." + key;
        const bool one_value = !value.is_object() || key.find_first_of(".[=") != std::string::npos ||
                               inner == "machine" || inner == "model" || inner == "fabric.background";
        if (!one_value) {
            flatten(value, inner, found);
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
        const std::size_t names = refused.size();
        for (const Diagnostic& other : error.diagnostics()) {
            const auto is_of_it = [&](const Diagnostic& each) { return each.key == other.key; };
            if (std::none_of(refused.begin(), refused.begin() + std::ptrdiff_t(names), is_of_it))
                refused.push_back(other);
        }
    }
}

}  // namespace

std::string requested_job(const HttpRequest& request, const RequestTarget& target) {
    std::string text = request.body;
    if (request.method != "POST") {
        Document said = Document::parse(requested_name, "{}");
        for (const auto& [key, value] : target.parameters) {
            if (!value.empty()) said.assign(key + "=" + value);
        }
        text = pretty(Json::parse(said.text()));
    }
    const Json as_sent = Json::parse(Document::parse(requested_name, text).text());
    Json job = as_sent;
    if (std::vector<Diagnostic> refused = keep_to_shipped_names(job); !refused.empty()) {
        add_other_mistakes(pretty(job), refused);
        throw ConfigError(std::move(refused));
    }
    return job == as_sent ? text : pretty(job);
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

std::vector<std::pair<std::string, std::string>> parameters_of(std::string_view job) {
    std::vector<std::pair<std::string, std::string>> found;
    const Document document = Document::parse(requested_name, std::string(job));
    if (const Json json = Json::parse(document.text()); json.is_object()) flatten(json, "", found);
    return found;
}

}  // namespace weft
