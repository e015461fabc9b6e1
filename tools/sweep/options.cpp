#include "tools/sweep/options.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "tools/folding_option.hpp"
#include "tools/job_options.hpp"
#include "tools/output/result_file.hpp"
#include "tools/sweep/sweep_file.hpp"

namespace weft {
namespace {

using Texts = std::vector<std::string>;

// What is wrong with an option's text is told with the option's name.
template <class Read>
auto read_option(std::string_view option, Read read) {
    try {
        return read();
    } catch (const std::invalid_argument& error) {
        throw po::error(fmt::format("--{}: {}", option, error.what()));
    }
}

void append(std::vector<Variation>& variations, const Texts& written, std::string_view option,
            Variation (*parse)(std::string_view)) {
    for (const std::string& text : written) {
        variations.push_back(read_option(option, [&] { return parse(text); }));
    }
}

}  // namespace

void add_sweep_options(po::options_description& options) {
    const auto repeatable = [](const char* value) { return po::value<Texts>()->composing()->value_name(value); };
    options.add_options()("vary", repeatable("KEY=VALUES"),
                          "values of one key: V1,V2,... or FIRST..LAST*FACTOR (or +STEP); repeatable, the last varies "
                          "fastest")(
        "zip", repeatable("\"KEY=VALUES KEY=VALUES\""),
        "keys that vary together, as many values each; repeatable, varies more slowly than --vary")(
        "where", repeatable("CONDITION"),
        "only points for which this holds, e.g. \"layout.tensor * layout.pipeline <= 64\"; repeatable")(
        "out", po::value<std::string>()->value_name("FILE"),
        "write rows to FILE (.csv, .jsonl, .sqlite; of a shard .shard) instead of stdout")(
        "resume", po::bool_switch(), "go on with a sweep that was interrupted: FILE.journal has what was done")(
        "shard", po::value<std::string>()->value_name("I/N"),
        "only every N-th point, from the I-th; weft merge puts shards together");
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
        throw po::error("nothing varies: give --vary KEY=V1,V2,..., --zip, or a sweep file in place of the job");
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
        throw po::error("--resume needs --out: its journal is beside it");
    if (arguments.count("shard")) {
        settings.shard = read_option("shard", [&] { return parse_shard(arguments["shard"].as<std::string>()); });
        if (!settings.out || settings.out->extension() != ".shard") {
            throw po::error(
                "--shard: expected --out with a name that ends in .shard; weft merge makes a table of them");
        }
    } else if (settings.out) {
        read_option("out", [&] { return result_format(*settings.out); });
    }
    return settings;
}

}  // namespace weft
