#include "tools/fabric_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "topologies/placement.hpp"

namespace weft {
namespace {

using Words = std::vector<std::string>;

Routing read_routing(const std::string& text) {
    if (const std::optional<Routing> routing = find_routing(text)) return *routing;
    const Words known{"minimal", "valiant", "adaptive"};
    throw po::error(
        fmt::format("--routing: expected {}, got \"{}\"{}", fmt::join(known, ", "), text, suggestion(text, known)));
}

// "slingshot.global=0.3"
std::pair<std::string, double> read_background(const std::string& text, const MachineInfo& machine) {
    const std::size_t equals = text.rfind('=');
    double share = -1.0;
    if (equals != text.npos) {
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, share);
        if (error != std::errc{} || stop != end) share = -1.0;
    }
    if (!(share >= 0.0 && share < 1.0)) {
        throw po::error(
            fmt::format("--background: expected CLASS=SHARE, a share of at least 0 and below 1; got \"{}\"", text));
    }
    const std::string name = text.substr(0, equals);
    if (std::ranges::find(machine.link_classes, name) == machine.link_classes.end()) {
        throw po::error(fmt::format("--background: no link class of {} is called \"{}\"{} (known: {})", machine.name,
                                    name, suggestion(name, machine.link_classes),
                                    fmt::join(machine.link_classes, ", ")));
    }
    return {name, share};
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
                          "them (default: the first)")("routing",
                                                       po::value<std::string>()->value_name("minimal|valiant|adaptive"),
                                                       "minimal, valiant or adaptive (default: the machine's)")(
        "background", po::value<Words>()->value_name("CLASS=SHARE")->composing(),
        "other traffic takes this share of the links of a class (may be repeated)");
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
    return fabric;
}

}  // namespace weft
