#include "tools/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/shipped.hpp"
#include "tools/digest.hpp"
#include "topologies/placement.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft {
namespace {

using Words = std::vector<std::string>;

RouteChoice read_routing(const std::string& text) {
    if (const std::optional<RouteChoice> choice = find_routing(text)) return *choice;
    throw po::error(fmt::format("--routing: {}", unknown_routing(text)));
}

// From 0 to below 1.
std::optional<double> read_share(std::string_view text) {
    const auto share = parse_as<double>(text);
    return share && may_be_background(*share) ? share : std::nullopt;
}

// "slingshot.global=0.3"
std::pair<std::string, double> read_background(const std::string& text, const MachineInfo& machine) {
    const std::size_t equals = text.rfind('=');
    const std::optional<double> share =
        equals != text.npos ? read_share(std::string_view(text).substr(equals + 1)) : std::nullopt;
    if (!share) {
        throw po::error(
            fmt::format("--background: expected CLASS=SHARE, a share of at least 0 and below 1; got \"{}\"", text));
    }
    const std::string name = text.substr(0, equals);
    if (std::ranges::find(machine.link_classes, name) == machine.link_classes.end()) {
        throw po::error(fmt::format("--background: no link class of {} is called \"{}\"{} (known: {})", machine.name,
                                    name, suggestion(name, machine.link_classes),
                                    fmt::join(machine.link_classes, ", ")));
    }
    return {name, *share};
}

// On every link between switches, but where --background says another share of a class.
void read_load(const std::string& text, const MachineInfo& machine, Fabric& fabric) {
    const std::optional<double> share = read_share(text);
    if (!share) throw po::error(fmt::format("--load: expected a share of at least 0 and below 1, got \"{}\"", text));
    if (machine.switch_classes.empty()) {
        throw po::error(fmt::format("--load: {} has no links between switches that others could use", machine.name));
    }
    add_load(fabric, *share, machine.switch_classes);
}

std::vector<std::uint32_t> read_placement(const std::string& text, const MachineInfo& machine, std::uint32_t nodes) {
    try {
        return place_nodes(text, nodes, machine);
    } catch (const ConfigError& error) {
        if (!error.diagnostics().front().file.empty()) throw;  // a mistake in a file, not in the option
        throw po::error(fmt::format("--placement: {}", error.diagnostics().front().message));
    }
}

}  // namespace

std::optional<std::uint32_t> count_option(const po::variables_map& arguments, const CountOption& option) {
    if (arguments.count(option.name) == 0) return std::nullopt;
    const std::string& text = arguments[option.name].as<std::string>();
    const auto value = parse_as<std::uint32_t>(text);
    if (value && *value >= option.least && *value <= option.most) return value;
    const bool bounded = option.most < std::numeric_limits<std::uint32_t>::max();
    throw po::error(fmt::format("--{}: expected a whole number of at least {}{}{}, got \"{}\"", option.name,
                                option.least, bounded ? fmt::format(" and at most {}", option.most) : "",
                                option.reason.empty() ? "" : fmt::format(" ({})", option.reason), text));
}

std::optional<double> decimal_option(const po::variables_map& arguments, const char* option, std::string_view example) {
    if (!arguments.count(option)) return std::nullopt;
    const std::string& text = arguments[option].as<std::string>();
    constexpr std::array<std::pair<char, double>, 5> suffixes{
        {{'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'B', 1e9}, {'T', 1e12}}};
    std::string_view number = text;
    double factor = 1;
    for (const auto& [suffix, times] : suffixes) {
        if (!number.ends_with(suffix)) continue;
        number.remove_suffix(1);
        factor = times;
        break;
    }
    const auto value = parse_as<double>(number);
    if (value && std::isfinite(*value) && *value > 0) return *value * factor;
    throw po::error(fmt::format("--{}: expected a number above 0 such as {}, got \"{}\"", option, example, text));
}

std::vector<std::uint32_t> numbers_option(const po::variables_map& arguments, const char* name, std::size_t count) {
    const std::string text = option_text(arguments, name);
    const auto number = [&](std::string_view part) {
        if (const auto value = parse_as<std::uint32_t>(part); value && *value < count) return *value;
        throw po::error(
            fmt::format("--{}: expected numbers from 0 to {} such as 0,4-6, got \"{}\"", name, count - 1, text));
    };
    std::set<std::uint32_t> numbers;
    if (!arguments.count(name)) return {};
    for (const auto& [from, to] : ranges_in(text)) {
        const std::uint32_t first = number(from), last = number(to);
        for (std::uint32_t each = first; each <= last; ++each) numbers.insert(each);
        if (last < first) throw po::error(fmt::format("--{}: {}-{} ends before it begins", name, from, to));
    }
    return {numbers.begin(), numbers.end()};
}

std::string option_text(const po::variables_map& arguments, const char* name) {
    return arguments.count(name) > 0 ? arguments[name].as<std::string>() : "";
}

std::optional<FlopConvention> flops_option(const po::variables_map& arguments) {
    if (!arguments.count("flops")) return std::nullopt;
    const std::string& name = arguments["flops"].as<std::string>();
    if (const auto convention = find_flop_convention(name)) return convention;
    throw po::error(fmt::format("--flops: expected {}, got \"{}\"", fmt::join(flop_convention_names, ", "), name));
}

Folding folding_named(const std::string& how) {
    if (const std::optional<Folding> folding = enumerator_called<Folding>(how)) return *folding;
    throw po::error(fmt::format("--fold: expected automatic, exact, stages or none, got \"{}\"", how));
}

Folding folding_option(const po::variables_map& arguments) {
    const std::string& how = arguments["fold"].as<std::string>();
    const Folding folding = folding_named(how);
    if (!arguments["no-fold"].as<bool>()) return folding;
    if (!arguments["fold"].defaulted() && folding != Folding::none) {
        throw po::error(fmt::format("--no-fold and --fold {} contradict each other", how));
    }
    return Folding::none;
}

std::string output_option(const boost::program_options::variables_map& arguments, const char* option,
                          std::initializer_list<std::string_view> endings) {
    if (!arguments.count(option)) return "";
    const std::string& path = arguments[option].as<std::string>();
    for (const std::string_view ending : endings) {
        if (path.ends_with(ending)) return path;
    }
    throw boost::program_options::error(
        fmt::format("--{}: expected a name that ends in {}, got \"{}\"", option, fmt::join(endings, " or "), path));
}

Fabric fabric_option(const po::variables_map& arguments, const MachineInfo& machine, std::uint32_t nodes) {
    Fabric fabric;
    if (arguments.count("routing") > 0) fabric.routing = read_routing(option_text(arguments, "routing"));
    if (arguments.count("placement") > 0) {
        fabric.placement = read_placement(arguments["placement"].as<std::string>(), machine, nodes);
    }
    if (arguments.count("background") > 0) {
        for (const std::string& each : arguments["background"].as<Words>()) {
            fabric.background.push_back(read_background(each, machine));
        }
    }
    if (arguments.count("load") > 0) read_load(arguments["load"].as<std::string>(), machine, fabric);
    return fabric;
}

// Files of the command line lie where the user is, those of a job file beside it.
std::string named_here(std::span<const embedded::File> shipped, std::string_view kind, std::string_view said) {
    std::string name = meant(shipped, kind, said, {});
    return is_path(name) ? std::filesystem::absolute(name).lexically_normal().string() : name;
}

std::string job_path(const po::variables_map& arguments) {
    if (arguments.count("job")) return arguments["job"].as<std::string>();
    const bool has_machine = arguments.count("machine") > 0 || arguments.count("machines") > 0;
    if (has_machine && arguments.count("model")) return {};
    throw po::required_option("job");
}

std::vector<std::string> job_overrides(const po::variables_map& arguments) {
    std::vector<std::string> overrides;
    const auto add = [&](const char* option, std::string_view key, std::span<const embedded::File> shipped = {}) {
        if (!arguments.count(option)) return;
        const std::string text = option_text(arguments, option);
        overrides.push_back(fmt::format("{}={}", key, shipped.empty() ? text : named_here(shipped, option, text)));
    };
    add("machine", "machine", embedded::machines());
    if (arguments.count("gpus") && !arguments.count("nodes")) overrides.emplace_back("nodes=null");
    add("nodes", "nodes");
    add("gpus", "gpus");
    add("model", "model", embedded::catalog());
    add("vocabulary", "model.vocabulary");
    add("global", "batch.global");
    for (const std::string& assignment : option_texts(arguments, "set")) overrides.push_back(assignment);
    return overrides;
}

Document job_document(const po::variables_map& arguments) {
    OpenedJob job = open_job(job_path(arguments), job_overrides(arguments));
    return std::move(job.document);
}

Study job_study(const po::variables_map& arguments, Purpose purpose) {
    OpenedJob job = open_job(job_path(arguments), job_overrides(arguments));
    print_notes(job.notes);
    return read_study(std::move(job.document), purpose);
}

JobRecord job_record(const po::variables_map& arguments) {
    return {.overrides = job_overrides(arguments), .digest = input_digest(job_document(arguments))};
}

void print_growth(const MachineInfo& machine, std::uint32_t nodes) {
    if (const std::string growth = machine.growth(nodes); !growth.empty()) fmt::print(stderr, "note: {}\n", growth);
}

void print_job_notes(const po::variables_map& arguments) {
    print_notes(open_job(job_path(arguments), job_overrides(arguments)).notes);
}

void print_notes(std::span<const FormatNote> notes) {
    for (const FormatNote& note : notes) fmt::print(stderr, "{}\n", to_text(note));
}

std::vector<std::string> option_texts(const po::variables_map& arguments, const char* option) {
    return arguments.count(option) ? arguments[option].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::string typed_command(std::string_view command, const po::variables_map& arguments,
                          std::initializer_list<const char*> options) {
    std::string typed = fmt::format("weft {}", command);
    if (arguments.count("job")) typed += " " + job_path(arguments);
    for (const char* const option : {"machine", "nodes", "gpus", "model", "vocabulary", "global"}) {
        if (arguments.count(option)) typed += fmt::format(" --{} {}", option, arguments[option].as<std::string>());
    }
    const auto add = [&](const char* option) {
        for (const std::string& text : option_texts(arguments, option))
            typed += fmt::format(" --{} '{}'", option, text);
    };
    add("set");
    for (const char* const option : options) add(option);
    return typed;
}

JobInput job_input(std::string_view command, const po::variables_map& arguments) {
    const Document document = job_document(arguments);
    std::string typed = typed_command(command, arguments);
    if (!arguments["network"].defaulted()) typed += " --network " + arguments["network"].as<std::string>();
    return {.command = std::move(typed),
            .text = document.text(),
            .folder = std::filesystem::path(job_path(arguments)).parent_path()};
}

NetworkKind network_named(const std::string& name) {
    if (name == "flow") return NetworkKind::flow;
    if (name == "ideal") return NetworkKind::ideal;
    if (name == "free") return NetworkKind::free;
    throw po::error("--network: expected flow, ideal or free, got \"" + name + "\"");
}

NetworkKind network_option(const po::variables_map& arguments) {
    return network_named(arguments["network"].as<std::string>());
}

}  // namespace weft
