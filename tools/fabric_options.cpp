#include "tools/fabric_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "topologies/placement.hpp"

namespace weft {
namespace {

using Words = std::vector<std::string>;

RouteChoice read_routing(const std::string& text) {
    if (const std::optional<RouteChoice> choice = find_routing(text)) return *choice;
    throw po::error(fmt::format("--routing: {}", unknown_routing(text)));
}

// From 0 to below 1.
std::optional<double> read_share(std::string_view text) {
    double share = -1.0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, share);
    return error == std::errc{} && stop == end && may_be_background(share) ? std::optional(share) : std::nullopt;
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

void add_fabric_options(po::options_description& options) {
    options.add_options()("placement", po::value<std::string>()->value_name("P"),
                          "where the nodes are: contiguous, random[:SEED], group:K, scatter:K, nodes:LIST or a file of "
                          "them (default: the first)")(
        "routing", po::value<std::string>()->value_name("minimal|ecmp|valiant|adaptive"),
        "minimal, ecmp[:SEED], valiant or adaptive (default: the machine's)")(
        "background", po::value<Words>()->value_name("CLASS=SHARE")->composing(),
        "other traffic takes this share of the links of a class (may be repeated), and packets wait for it")(
        "load", po::value<std::string>()->value_name("SHARE"),
        "the same of every link between switches, from 0 to below 1");
}

Fabric fabric_option(const po::variables_map& arguments, const MachineInfo& machine, std::uint32_t nodes) {
    Fabric fabric;
    if (arguments.count("routing") > 0) fabric.routing = read_routing(arguments["routing"].as<std::string>());
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

}  // namespace weft
