#include "tools/page/sources.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace weft
