#include "tools/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <span>
#include <stdexcept>

#include "sim/base/lists.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/document.hpp"
#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/digest.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/result_file.hpp"
#include "tools/output/result_table.hpp"
#include "tools/version.hpp"
#include "workloads/formats/format.hpp"

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

std::string digest_of(std::initializer_list<std::span<const std::string>> lists) {
    DigestedTexts texts;
    for (const std::span<const std::string> list : lists) {
        for (const std::string& text : list) texts.add(text);
    }
    return texts.digest();
}

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

using Texts = std::vector<std::string>;

// What is wrong with an option's text is told with the option's name.
template <class Read>
auto read_option(std::string_view option, Read read) {
    try {
        return read();
    } catch (const std::invalid_argument& error) {
        throw OptionError("--{}: {}", option, error.what());
    }
}

void append(std::vector<Variation>& variations, const Texts& written, std::string_view option,
            Variation (*parse)(std::string_view)) {
    for (const std::string& text : written) {
        variations.push_back(read_option(option, [&] { return parse(text); }));
    }
}

}  // namespace

SweepShard parse_shard(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::size_t after = slash == text.npos ? text.size() : slash + 1;
    const auto number = parse_as<std::uint32_t>(text.substr(0, slash)),
               of = parse_as<std::uint32_t>(text.substr(after));
    if (number && of && *number >= 1 && *number <= *of) return {.number = *number, .of = *of};
    throw std::invalid_argument(fmt::format("expected I/N with I from 1 to N, got \"{}\"", text));
}

std::vector<std::size_t> points_of(const SweepRequest& request) {
    auto points = numbers_below<std::size_t>(request.grid.size());
    for (const std::string& text : request.conditions) {
        try {
            Condition condition(text, request.grid.keys());
            std::erase_if(points, [&](std::size_t i) {
                return !condition.holds(list_of<ResultCell>(request.grid.point(i), cell_of_json));
            });
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(fmt::format("\"{}\": {}", text, error.what()));
        }
    }
    if (points.empty()) {
        throw std::invalid_argument(fmt::format("none of the {} points holds for {}", request.grid.size(),
                                                fmt::format("\"{}\"", fmt::join(request.conditions, "\" and \""))));
    }
    return points;
}

std::string SweepInputs::digest() const {
    DigestedTexts texts;
    for (const auto& [name, hash] : parts) texts.add(name).add(hash);
    return texts.digest();
}

std::string SweepInputs::difference(const SweepInputs& other) const {
    const std::string names = comma_list(parts, [&](const auto& part) {
        return std::ranges::count(other.parts, part) > 0 ? std::string() : part.first;
    });
    return names.empty() ? "list of inputs" : names;
}

SweepInputs inputs_of(const SweepRequest& request) {
    const SimulationOptions& options = request.simulation;
    return {{{"version of weft", sha256(version)},
             {"job text", sha256(request.job.is_empty() ? "" : request.job.read())},
             {"values set", digest_of({request.overrides})},
             {"varied values and conditions",
              digest_of({request.grid.keys(), request.grid.all_values(), request.conditions})},
             {"network and folding",
              sha256(fmt::format("{} {}", static_cast<int>(options.network), name(options.folding)))},
             {"files that the job names", digest_of_files(request)},
             {"shipped machines, models and devices", digest_of_shipped_data()}}};
}

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
    for (Field& group : root.list_if_given("zip")) {
        if (std::optional<Variation> variation = read_zip(group)) file.zipped.push_back(*std::move(variation));
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
    } else {
        file.conditions = list_of<std::string>(root.list_if_given("where"), &Field::as_text);
    }
    root.done();
    document.check();
    return file;
}

SweepRequest sweep_request(const po::variables_map& arguments) {
    SweepRequest request;
    std::vector<Variation> variations, varied;
    request.job = job_path(arguments);
    if (std::optional<SweepFile> file = read_sweep_file(request.job.path)) {
        request.job = file->job;
        request.overrides = std::move(file->overrides);
        variations = std::move(file->zipped);
        varied = std::move(file->varied);
        request.conditions = std::move(file->conditions);
    }
    append(variations, option_texts(arguments, "zip"), "zip", parse_zip);
    append(varied, option_texts(arguments, "vary"), "vary", parse_variation);
    variations.insert(variations.end(), varied.begin(), varied.end());
    if (variations.empty()) {
        throw OptionError("nothing varies: give --vary KEY=V1,V2,..., --zip, or a sweep file in place of the job");
    }
    request.grid = read_option("vary", [&] { return SweepGrid(std::move(variations)); });
    const Texts overrides = job_overrides(arguments), conditions = option_texts(arguments, "where");
    request.overrides.insert(request.overrides.end(), overrides.begin(), overrides.end());
    request.conditions.insert(request.conditions.end(), conditions.begin(), conditions.end());
    request.simulation.network = network_option(arguments);
    request.simulation.folding = folding_option(arguments);
    return request;
}

SweepSettings sweep_settings(const po::variables_map& arguments) {
    SweepSettings settings;
    if (arguments.count("out")) settings.out = arguments["out"].as<std::string>();
    if (arguments["resume"].as<bool>()) settings.resume = Resume::yes;
    if (settings.resume == Resume::yes && !settings.out)
        throw OptionError("--resume needs --out: its journal is beside it");
    if (arguments.count("shard")) {
        settings.shard = read_option("shard", [&] { return parse_shard(arguments["shard"].as<std::string>()); });
        if (!settings.out || settings.out->extension() != ".shard") {
            throw OptionError(
                "--shard: expected --out with a name that ends in .shard; weft merge makes a table of them");
        }
    } else if (settings.out) {
        read_option("out", [&] { return result_format(*settings.out); });
    }
    return settings;
}

}  // namespace weft
