#include "tools/sweep/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/io/document.hpp"
#include "sim/io/text_file.hpp"
#include "tools/digest.hpp"
#include "tools/input_digest.hpp"
#include "tools/version.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft {
namespace {

// Files that a value may name, as jobs do: from the folder of the job.
std::string digest_of_files(const SweepRequest& request) {
    const Document job = open_job(request.job, request.overrides).document;
    std::set<std::string> names;
    collect_texts(job.text(), names);
    for (const std::string& value : request.grid.all_values()) collect_texts(value, names);
    return digest_of_named_files(names, request.job.path.parent_path());
}

std::string digest_of_grid(const SweepRequest& request) {
    DigestedTexts texts;
    for (const std::string& key : request.grid.keys()) texts.add(key);
    for (const std::string& value : request.grid.all_values()) texts.add(value);
    for (const std::string& condition : request.conditions) texts.add(condition);
    return texts.digest();
}

std::string digest_of(const std::vector<std::string>& list) {
    DigestedTexts texts;
    for (const std::string& text : list) texts.add(text);
    return texts.digest();
}

}  // namespace

std::string SweepInputs::digest() const {
    DigestedTexts texts;
    for (const auto& [name, hash] : parts) texts.add(name).add(hash);
    return texts.digest();
}

std::string SweepInputs::difference(const SweepInputs& other) const {
    std::string names;
    for (const auto& part : parts) {
        if (std::find(other.parts.begin(), other.parts.end(), part) != other.parts.end()) continue;
        names += (names.empty() ? "" : ", ") + part.first;
    }
    return names.empty() ? "list of inputs" : names;
}

SweepInputs inputs_of(const SweepRequest& request) {
    const SimulationOptions& options = request.simulation;
    return {{{"version of weft", sha256(version)},
             {"job text", sha256(request.job.is_empty() ? "" : request.job.read())},
             {"values set", digest_of(request.overrides)},
             {"varied values and conditions", digest_of_grid(request)},
             {"network and folding",
              sha256(fmt::format("{} {}", static_cast<int>(options.network), name(options.folding)))},
             {"files that the job names", digest_of_files(request)},
             {"shipped machines, models and devices", digest_of_shipped_data()}}};
}

}  // namespace weft
