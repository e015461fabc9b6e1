#include "tools/validate/row_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"

namespace weft {

Document row_document(const ValidationSet& set, const ValidationRow& row) {
    Document document = Document::parse(set.path, set.job);
    std::vector<Diagnostic> errors;
    for (const JobCell& cell : row.cells) {
        try {
            document.assign(cell.key + "=" + cell.value);
        } catch (const ConfigError& error) {
            errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
    return document;
}

std::string row_job(const ValidationSet& set, const ValidationRow& row) {
    auto job = nlohmann::ordered_json::parse(row_document(set, row).text());
    const std::filesystem::path folder = std::filesystem::absolute(set.path).parent_path();
    for (const auto& [key, shipped] :
         {std::pair{"machine", embedded::machines()}, std::pair{"model", embedded::catalog()}}) {
        const auto named = job.find(key);
        if (named == job.end() || !named->is_string()) continue;
        const std::string name = meant(shipped, key, named->get<std::string>(), folder);
        *named = is_path(name) ? std::filesystem::path(name).lexically_normal().string() : name;
    }
    return job.dump();
}

std::string row_job_text(const ValidationSet& set, const ValidationRow& row) {
    const std::string job = row_job(set, row);
    std::string name = row.name;
    std::ranges::replace(name, '\n', ' ');
    return fmt::format("// {}: {}\n{}\n", set.name, name, nlohmann::ordered_json::parse(job).dump(2));
}

void RowErrors::add(const ValidationSet& set, const ValidationRow& row, const ConfigError& error) {
    for (const Diagnostic& found : error.diagnostics()) {
        // The place inside the row's job is of no use: the job was put together from two files.
        const bool common = found.file == set.path;
        const auto same = [&](const Entry& entry) {
            const Diagnostic& known = entry.diagnostic;
            return known.key == found.key && known.message == found.message &&
                   known.file == (common ? set.path : set.table_path);
        };
        if (const auto known = std::ranges::find_if(entries_, same); known != entries_.end()) {
            ++known->rows;
            continue;
        }
        entries_.push_back({.diagnostic = {.file = common ? set.path : set.table_path,
                                           .line = common ? 0 : row.line,
                                           .column = common ? 0 : 1,
                                           .key = found.key,
                                           .message = found.message},
                            .row = row.name});
    }
}

void RowErrors::check() const {
    if (entries_.empty()) return;
    std::vector<Diagnostic> diagnostics;
    for (const Entry& entry : entries_) {
        Diagnostic diagnostic = entry.diagnostic;
        diagnostic.message += fmt::format(" (row \"{}\"{})", entry.row,
                                          entry.rows > 1 ? fmt::format(" and {} more", entry.rows - 1) : "");
        diagnostics.push_back(std::move(diagnostic));
    }
    throw ConfigError(std::move(diagnostics));
}

}  // namespace weft
