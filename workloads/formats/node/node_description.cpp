#include "workloads/formats/node/node_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

namespace weft {
namespace {

double leading_number(std::string_view text) {
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number >= 0 && number < 1e6 ? number : 0;
}

std::uint32_t hexadecimal(std::string_view digits) {
    std::uint32_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    return number;
}

std::uint32_t buses_apart(std::string_view a, std::string_view b) {
    constexpr std::uint32_t most_buses = 256;
    const std::size_t i = a.find(':'), j = b.find(':');
    if (i == std::string_view::npos || j == std::string_view::npos || a.substr(0, i) != b.substr(0, j))
        return most_buses;
    const std::uint32_t x = hexadecimal(a.substr(i + 1, 2)), y = hexadecimal(b.substr(j + 1, 2));
    return x > y ? x - y : y - x;
}

}  // namespace

void check_node_size(const std::string& path, std::size_t accelerators, std::size_t nics) {
    constexpr std::size_t most = 1024;
    if (accelerators <= most && nics <= most) return;
    throw ConfigError(
        {Diagnostic{.file = path,
                    .key = {},
                    .message = fmt::format("has {} accelerators and {} NICs: a node has at most {} of each",
                                           accelerators, nics, most)}});
}

void place_nics_by_tree(NodeDescription& node) {
    for (DescribedNic& nic : node.nics) {
        for (const DescribedAccelerator& accelerator : node.accelerators) {
            const auto first = std::ranges::mismatch(nic.above, accelerator.above).in1;
            constexpr std::uint32_t farthest = 1U << 20U;
            const auto common = static_cast<std::uint32_t>(first - nic.above.begin());
            nic.distance.push_back(farthest - std::min(common, farthest));
            nic.apart.push_back(buses_apart(nic.busid, accelerator.name));
        }
    }
}

LinkCounts NodeDescription::no_links() const {
    return LinkCounts(accelerators.size(), std::vector<std::uint32_t>(accelerators.size()));
}

std::uint32_t NodeDescription::links_of(std::size_t accelerator) const {
    std::uint32_t sum = 0;
    for (std::size_t other = 0; other < links.size(); ++other) {
        if (other != accelerator) sum += links[accelerator][other];
    }
    return sum;
}

// As machine files say it: bits on the wire; what packets and encoding take is the efficiency's part, but for the fifth
// that the 8b/10b code of the first two generations takes.
double pcie_gigabytes(std::string_view speed, std::string_view lanes) {
    const double gigatransfers = leading_number(speed);
    return gigatransfers * leading_number(lanes) / 8 * (gigatransfers < 8 ? 0.8 : 1.0);
}

std::vector<std::uint32_t> attached_to(std::span<const DescribedNic> nics, std::size_t accelerators) {
    std::vector<std::uint32_t> attached, users(accelerators);
    for (const DescribedNic& nic : nics) {
        const auto cost = [&](std::uint32_t i) {
            return std::tuple(nic.distance[i], users[i], nic.apart.empty() ? 0 : nic.apart[i]);
        };
        std::uint32_t best = 0;
        for (std::uint32_t i = 1; i < accelerators; ++i) {
            if (cost(i) < cost(best)) best = i;
        }
        ++users[best];
        attached.push_back(best);
    }
    return attached;
}

void add_node_facts(Import& import, const NodeDescription& node) {
    const auto fact = [&](const char* name, std::string json) { import.facts.push_back({name, std::move(json)}); };
    fact("accelerators_per_node", std::to_string(node.accelerators.size()));
    fact("nics_per_node", std::to_string(node.nics.size()));
    if (node.numa_nodes > 0) fact("numa_nodes", std::to_string(node.numa_nodes));
    if (node.links_known && node.counts_known) {
        fact("links", fmt::format("[{}]", fmt::join(node.links, ", ")));
        std::vector<std::uint32_t> to_switches;
        for (const DescribedAccelerator& each : node.accelerators) to_switches.push_back(each.switch_links);
        if (std::ranges::any_of(to_switches, [](std::uint32_t links) { return links > 0; }))
            fact("switch_links", fmt::format("{}", to_switches));
    }
    std::set<double> speeds;
    for (const DescribedNic& nic : node.nics) {
        if (nic.gigabits > 0) speeds.insert(nic.gigabits);
    }
    if (!speeds.empty()) fact("nic_gbit_per_s", fmt::format("[{}]", fmt::join(speeds, ", ")));
}

}  // namespace weft
