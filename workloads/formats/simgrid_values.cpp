#include "workloads/formats/simgrid_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace weft {
namespace {

struct Amount {
    double number = 0;
    std::string_view unit;
};

std::optional<Amount> split_amount(std::string_view text) {
    Amount amount;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount.number);
    if (error != std::errc() || !std::isfinite(amount.number) || amount.number < 0) return std::nullopt;
    amount.unit = text.substr(static_cast<std::size_t>(end - text.data()));
    while (amount.unit.starts_with(' ')) amount.unit.remove_prefix(1);
    return amount;
}

}  // namespace

std::optional<double> simgrid_bandwidth(std::string_view text) {
    const std::optional<Amount> amount = split_amount(text);
    if (!amount) return std::nullopt;
    std::string_view unit = amount->unit;
    if (unit.empty()) return amount->number;
    if (!unit.ends_with("Bps") && !unit.ends_with("bps")) return std::nullopt;
    const double bytes = unit.ends_with("Bps") ? 1.0 : 1.0 / 8;
    unit.remove_suffix(3);
    const bool binary = unit.ends_with('i');
    if (binary) unit.remove_suffix(1);
    constexpr std::string_view prefixes = "kMGTPE";
    if (unit.empty()) return binary ? std::nullopt : std::optional(amount->number * bytes);
    const char prefix = unit.front() == 'K' ? 'k' : unit.front();
    const std::size_t power = prefixes.find(prefix);
    if (unit.size() != 1 || power == std::string_view::npos) return std::nullopt;
    return amount->number * bytes * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power) + 1);
}

std::optional<double> simgrid_seconds(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, double>, 9> units{{{"", 1.0},
                                                                        {"s", 1.0},
                                                                        {"ms", 1e3},
                                                                        {"us", 1e6},
                                                                        {"ns", 1e9},
                                                                        {"ps", 1e12},
                                                                        {"m", 1.0 / 60},
                                                                        {"h", 1.0 / 3600},
                                                                        {"d", 1.0 / 86400}}};
    const std::optional<Amount> amount = split_amount(text);
    if (!amount) return std::nullopt;
    for (const std::pair<std::string_view, double>& unit : units) {
        if (unit.first == amount->unit) return amount->number / unit.second;
    }
    return std::nullopt;
}

std::uint64_t simgrid_hosts(std::string_view radical) {
    constexpr std::uint64_t most = std::uint64_t{1} << 31U;
    std::uint64_t hosts = 0;
    while (!radical.empty()) {
        const std::size_t comma = std::min(radical.find(','), radical.size());
        const std::string_view part = radical.substr(0, comma);
        radical.remove_prefix(std::min(comma + 1, radical.size()));
        std::uint32_t first = 0, last = 0;
        const char* const end = part.data() + part.size();
        auto read = std::from_chars(part.data(), end, first);
        last = first;
        if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') {
            read = std::from_chars(read.ptr + 1, end, last);
        }
        if (read.ec != std::errc() || read.ptr != end || last < first) return 0;
        hosts = std::min(most, hosts + last - first + 1);
    }
    return hosts;
}

SimGridParameters simgrid_parameters(std::string_view text) {
    SimGridParameters lists(1);
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    constexpr std::uint32_t most = 1U << 24U;
    while (at <= end && lists.size() < 16 && lists.back().size() < 16) {
        std::uint32_t number = 0;
        while (at != end && *at == ' ') ++at;
        const auto read = std::from_chars(at, end, number);
        if (read.ec != std::errc() || number == 0 || number > most) return {};
        lists.back().push_back(number);
        at = read.ptr;
        if (at == end) return lists;
        if (*at == ';') lists.emplace_back();
        if (*at != ';' && *at != ',') return {};
        ++at;
    }
    return {};
}

}  // namespace weft
