#include "tools/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sim/base/texts.hpp"
#include "sim/io/shipped.hpp"
#include "tools/digest.hpp"
#include "tools/parallel.hpp"
#include "topologies/placement.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft {
namespace {

using Words = std::vector<std::string>;

RouteChoice read_routing(const std::string& text) {
    if (const std::optional<RouteChoice> choice = find_routing(text)) return *choice;
    throw OptionError("--routing: {}", unknown_routing(text));
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
        throw OptionError("--background: expected CLASS=SHARE, a share of at least 0 and below 1; got \"{}\"", text);
    }
    const std::string name = text.substr(0, equals);
    if (std::ranges::find(machine.link_classes, name) == machine.link_classes.end()) {
        throw OptionError("--background: no link class of {} is called \"{}\"{} (known: {})", machine.name, name,
                          suggestion(name, machine.link_classes), fmt::join(machine.link_classes, ", "));
    }
    return {name, *share};
}

std::vector<std::uint32_t> read_placement(const std::string& text, const MachineInfo& machine, std::uint32_t nodes) {
    try {
        return place_nodes(text, nodes, machine);
    } catch (const ConfigError& error) {
        if (!error.diagnostics().front().file.empty()) throw;  // a mistake in a file, not in the option
        throw OptionError("--placement: {}", error.diagnostics().front().message);
    }
}

}  // namespace

OptionError unexpected(std::string_view option, std::string_view expected, std::string_view text) {
    return OptionError("--{}: expected {}, got \"{}\"", option, expected, text);
}

std::optional<std::uint32_t> count_option(const po::variables_map& arguments, const CountOption& option) {
    const bool bounded = option.most < std::numeric_limits<std::uint32_t>::max();
    const std::string expected = fmt::format("a whole number of at least {}{}{}", option.least,
                                             bounded ? fmt::format(" and at most {}", option.most) : "",
                                             option.reason.empty() ? "" : fmt::format(" ({})", option.reason));
    return read_option(arguments, option.name, expected, [&](const std::string& text) {
        const auto value = parse_as<std::uint32_t>(text);
        return value && *value >= option.least && *value <= option.most ? value : std::nullopt;
    });
}

unsigned threads_option(const po::variables_map& arguments) {
    return count_option(arguments, {.name = "jobs", .most = 1024, .reason = "each is a thread"})
        .value_or(all_threads());
}

std::optional<double> decimal_option(const po::variables_map& arguments, const char* option, std::string_view example) {
    const auto read = [](std::string_view number) {
        constexpr std::array<std::pair<std::string_view, double>, 6> suffixes{
            {{"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"B", 1e9}, {"T", 1e12}, {"", 1}}};
        const auto ends = [&](const auto& each) { return number.ends_with(each.first); };
        const auto [suffix, factor] = *std::ranges::find_if(suffixes, ends);
        const auto value = parse_as<double>(number.substr(0, number.size() - suffix.size()));
        return value && std::isfinite(*value) && *value > 0 ? std::optional(*value * factor) : std::nullopt;
    };
    return read_option(arguments, option, fmt::format("a number above 0 such as {}", example), read);
}

std::vector<std::uint32_t> numbers_option(const po::variables_map& arguments, const char* name, std::size_t count) {
    const std::string text = option_text(arguments, name);
    const auto number = [&](std::string_view part) {
        if (const auto value = parse_as<std::uint32_t>(part); value && *value < count) return *value;
        throw OptionError("--{}: expected numbers from 0 to {} such as 0,4-6, got \"{}\"", name, count - 1, text);
    };
    std::set<std::uint32_t> numbers;
    if (!arguments.count(name)) return {};
    for (const auto& [from, to] : ranges_in(text)) {
        const std::uint32_t first = number(from), last = number(to);
        for (std::uint32_t each = first; each <= last; ++each) numbers.insert(each);
        if (last < first) throw OptionError("--{}: {}-{} ends before it begins", name, from, to);
    }
    return {numbers.begin(), numbers.end()};
}

std::string option_text(const po::variables_map& arguments, const char* name) {
    return arguments.count(name) > 0 ? arguments[name].as<std::string>() : "";
}

std::optional<FlopConvention> flops_option(const po::variables_map& arguments) {
    const std::string names = fmt::format("{}", fmt::join(all_enumerator_names<FlopConvention>(), ", "));
    return read_option(arguments, "flops", names, enumerator_called<FlopConvention>);
}

Folding folding_named(const std::string& how) {
    if (const std::optional<Folding> folding = enumerator_called<Folding>(how)) return *folding;
    throw unexpected("fold", "automatic, exact, stages or none", how);
}

Folding folding_option(const po::variables_map& arguments) {
    const std::string& how = arguments["fold"].as<std::string>();
    const Folding folding = folding_named(how);
    if (!arguments["no-fold"].as<bool>()) return folding;
    if (!arguments["fold"].defaulted() && folding != Folding::none) {
        throw OptionError("--no-fold and --fold {} contradict each other", how);
    }
    return Folding::none;
}

std::string output_option(const po::variables_map& arguments, const char* option,
                          std::initializer_list<std::string_view> endings) {
    const std::string expected = fmt::format("a name that ends in {}", fmt::join(endings, " or "));
    const auto ends_well = [&](const std::string& path) {
        const bool good = std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
        return good ? std::optional(path) : std::nullopt;
    };
    return read_option(arguments, option, expected, ends_well).value_or("");
}

Fabric fabric_option(const po::variables_map& arguments, const MachineInfo& machine, std::uint32_t nodes) {
    Fabric fabric;
    if (arguments.count("routing") > 0) fabric.routing = read_routing(option_text(arguments, "routing"));
    if (arguments.count("placement") > 0) {
        fabric.placement = read_placement(arguments["placement"].as<std::string>(), machine, nodes);
    }
    for (const std::string& each : option_texts(arguments, "background")) {
        fabric.background.push_back(read_background(each, machine));
    }
    const auto load = read_option(arguments, "load", "a share of at least 0 and below 1", read_share);
    if (load && machine.switch_classes.empty()) {
        throw OptionError("--load: {} has no links between switches that others could use", machine.name);
    }
    // On every link between switches, but where --background says another share of a class.
    if (load) add_load(fabric, *load, machine.switch_classes);
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
    const auto add = [&](const char* option) {
        const po::variable_value& value = arguments[option];
        if (value.empty() || value.defaulted()) return;
        if (const auto* const texts = boost::any_cast<Words>(&value.value())) {
            for (const std::string& text : *texts) typed += fmt::format(" --{} '{}'", option, text);
        } else {
            const auto* const text = boost::any_cast<std::string>(&value.value());
            typed += fmt::format(" --{}{}", option, text != nullptr ? " " + *text : "");
        }
    };
    for (const char* const option : {"machine", "nodes", "gpus", "model", "vocabulary", "global", "set"}) add(option);
    for (const char* const option : options) add(option);
    return typed;
}

JobInput job_input(std::string_view command, const po::variables_map& arguments) {
    const Document document = job_document(arguments);
    return {.command = typed_command(command, arguments, {"network"}),
            .text = document.text(),
            .folder = std::filesystem::path(job_path(arguments)).parent_path()};
}

NetworkKind network_named(const std::string& name) {
    if (const std::optional<NetworkKind> kind = enumerator_called<NetworkKind>(name)) return *kind;
    throw unexpected("network", "flow, ideal or free", name);
}

NetworkKind network_option(const po::variables_map& arguments) {
    return network_named(arguments["network"].as<std::string>());
}

}  // namespace weft
