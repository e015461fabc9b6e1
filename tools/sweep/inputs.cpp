#include "tools/sweep/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
<<<<<<< HEAD
=======
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
>>>>>>> delta

#include "sim/io/document.hpp"
#include "sim/io/text_file.hpp"
#include "tools/digest.hpp"
#include "tools/input_digest.hpp"
#include "tools/version.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft {
namespace {

<<<<<<< HEAD
// Files that a value may name, as jobs do: from the folder of the job.
=======
// Texts one after another, each with its length, so that no two lists give the same bytes.
class Texts {
  public:
    Texts& add(std::string_view text) {
        bytes_ += fmt::format("{}:{};", text.size(), text);
        return *this;
    }
    std::string digest() const { return sha256(bytes_); }

  private:
    std::string bytes_;
};

// Every text between quotation marks in JSON, and the whole where it is none.
void collect_texts(std::string_view json, std::set<std::string>& texts) {
    texts.emplace(json);
    for (std::size_t begin = json.find('"'); begin != std::string_view::npos;) {
        const std::size_t end = json.find('"', begin + 1);
        if (end == std::string_view::npos) break;
        texts.emplace(json.substr(begin + 1, end - begin - 1));
        begin = json.find('"', end + 1);
    }
}

// Files that a value may name, as jobs do: from the folder of the job. Files of machines and models may name others,
// from theirs.
>>>>>>> delta
std::string digest_of_files(const SweepRequest& request) {
    const Document job = open_job(request.job, request.overrides).document;
    std::set<std::string> names;
    collect_texts(job.text(), names);
    for (const std::string& value : request.grid.all_values()) collect_texts(value, names);
<<<<<<< HEAD
    return digest_of_named_files(names, request.job.parent_path());
=======
    std::map<std::string, std::string> files;
    std::vector<std::pair<std::filesystem::path, std::set<std::string>>> named{{request.job.parent_path(), names}};
    while (!named.empty()) {
        const auto [folder, found] = std::move(named.back());
        named.pop_back();
        for (const std::string& name : found) {
            constexpr std::size_t longest_name = 4096;
            if (name.empty() || name.size() > longest_name || name.find('\0') != std::string::npos) continue;
            std::error_code none;
            const std::filesystem::path path = (folder / name).lexically_normal();
            const std::string from_job =
                path.lexically_proximate(request.job.parent_path().lexically_normal()).string();
            if (files.contains(from_job) || !std::filesystem::is_regular_file(path, none)) continue;
            const std::string& text = files.emplace(from_job, read_text(path)).first->second;
            if (path.extension() != ".json") continue;
            named.emplace_back(path.parent_path(), std::set<std::string>{});
            collect_texts(text, named.back().second);
        }
    }
    Texts texts;
    for (const auto& [name, text] : files) texts.add(name).add(text);
    return texts.digest();
}

std::string digest_of_shipped_data() {
    Texts texts;
    for (const auto& files : {embedded::catalog(), embedded::devices(), embedded::machines(), embedded::tuners()}) {
        for (const embedded::File& file : files) texts.add(file.name).add(file.text);
    }
    return texts.digest();
>>>>>>> delta
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
             {"job text", sha256(request.job.empty() ? "" : read_text(request.job))},
             {"values set", digest_of(request.overrides)},
             {"varied values and conditions", digest_of_grid(request)},
             {"network and folding",
              sha256(fmt::format("{} {}", static_cast<int>(options.network), name(options.folding)))},
             {"files that the job names", digest_of_files(request)},
             {"shipped machines, models and devices", digest_of_shipped_data()}}};
}

}  // namespace weft
