#include "tools/sweep/sweep_file.hpp"

#include <stdexcept>
#include <utility>

#include "sim/io/document.hpp"
#include "sim/io/text_file.hpp"
#include "tools/sweep/value_list.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft {
namespace {

std::vector<std::string> read_values(Field& owner, const std::string& key) {
    std::vector<std::string> values;
    try {
        if (owner.is_text(key)) return parse_value_list(owner.text(key));
    } catch (const std::invalid_argument& error) {
        owner.error(key, error.what());
        return values;
    }
    for (const Field& element : owner.list(key)) values.push_back(element.as_json());
    if (values.empty()) owner.error(key, "expected values");
    return values;
}

// One variation of all keys of an object.
std::optional<Variation> read_zip(Field group) {
    std::vector<std::string> keys = group.keys();
    std::vector<std::vector<std::string>> values;
    for (const std::string& key : keys) values.push_back(read_values(group, key));
    if (keys.size() < 2) {
        group.error("", "expected two keys or more, which vary together");
        return std::nullopt;
    }
    try {
        return zipped(std::move(keys), values);
    } catch (const std::invalid_argument& error) {
        group.error("", error.what());
        return std::nullopt;
    }
}

}  // namespace

std::optional<SweepFile> read_sweep_file(const std::filesystem::path& path) {
    if (path.empty()) return std::nullopt;
    SourceFile source{path.string(), read_text(path)};
    if (find_format(source) != nullptr) return std::nullopt;  // a job of another tool
    Document document = Document::parse(path.string(), std::move(source.text));
    Field root = document.root();
    if (!root.has("job") && !root.has("vary") && !root.has("zip")) return std::nullopt;
    SweepFile file;
    file.job = path.parent_path() / root.text("job");
    if (root.has("set")) file.overrides = overrides_in(root.object("set"));
    if (root.has("zip")) {
        for (Field& group : root.list("zip")) {
            if (std::optional<Variation> variation = read_zip(group)) file.zipped.push_back(*std::move(variation));
        }
    }
    if (root.has("vary")) {
        Field vary = root.object("vary");
        for (const std::string& key : vary.keys()) {
            std::vector<std::string> values = read_values(vary, key);
            if (!values.empty()) file.varied.push_back(zipped({key}, {std::move(values)}));
        }
    }
    if (root.is_text("where")) {
        file.conditions.push_back(root.text("where"));
    } else if (root.has("where")) {
        for (Field& condition : root.list("where")) file.conditions.push_back(condition.as_text());
    }
    root.done();
    document.check();
    return file;
}

}  // namespace weft
