#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"
#include "tools/collective/options.hpp"
#include "tools/library/internal.hpp"
#include "tools/output/collective_text.hpp"
#include "tools/output/job_json.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/report_json.hpp"
#include "tools/version.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft::library {

InputError::InputError(const std::string& what, std::vector<Mistake> mistakes)
    : std::runtime_error(what), mistakes_(std::move(mistakes)) {}

std::vector<Mistake> mistakes_of(const ConfigError& error) {
    std::vector<Mistake> mistakes;
    for (const Diagnostic& each : error.diagnostics()) {
        mistakes.push_back({.file = each.file,
                            .line = each.line,
                            .column = each.column,
                            .key = each.key,
                            .message = each.message,
                            .suggestions = suggested_names(each.message)});
    }
    return mistakes;
}

std::string collective_json(const std::vector<std::string>& arguments) {
    return told([&] {
        std::vector<const char*> words;
        for (const std::string& argument : arguments) words.push_back(argument.c_str());
        const CollectiveRequest request = collective_request(parse_arguments(find_command("collective"), words));
        return weft::collective_json(request, predict(request), std::nullopt);
    });
}

std::string import_json(const std::vector<std::string>& files, const Overrides& overrides) {
    return told([&] {
        const std::vector<SourceFile> sources = read_sources(files);
        const Format& format = format_of(sources, {});
        return weft::import_json(format, import_files(format, sources, format_options(overrides)));
    });
}

std::string model_json(const std::string& name) {
    return told([&] { return json_text(weft::model_json(load_model(name))); });
}

std::vector<std::string> machines() { return shipped_names(embedded::machines()); }
std::vector<std::string> models() { return shipped_names(embedded::catalog()); }
std::string_view version() { return weft::version; }

}  // namespace weft::library
