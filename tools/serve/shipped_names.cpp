#include "tools/serve/shipped_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;
using Files = std::span<const embedded::File>;

class NameCheck {
  public:
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

    std::vector<Diagnostic> take() { return std::move(found_); }

  private:
    void refuse(std::string key, std::string message) {
        found_.push_back({.file = "job.json", .key = std::move(key), .message = std::move(message)});
    }

    std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> keep_to_shipped_names(Json& job) {
    NameCheck check;
    if (job.is_object()) {
        if (job.contains("machine")) check.check("machine", job["machine"], "machine", embedded::machines());
        if (job.contains("model")) check.check("model", job["model"], "model", embedded::catalog());
        if (job.contains("fabric") && job["fabric"].is_object() && job["fabric"].contains("placement")) {
            check.check_placement(job["fabric"]["placement"]);
        }
    }
    return check.take();
}

}  // namespace weft
