#include "tools/output/volume_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "sim/base/check.hpp"

namespace weft {
namespace {

double milliseconds(Seconds time) { return time.value * 1e3; }

// Mean of all but the k greatest and least values, k = round(n / 10); a half goes to the even neighbour, as Python
// rounds.
double trimmed_mean(std::vector<double> values) {
    std::ranges::sort(values);
    const auto trimmed = static_cast<std::ptrdiff_t>(std::nearbyint(static_cast<double>(values.size()) * 0.1));
    const double sum = std::accumulate(values.begin() + trimmed, values.end() - trimmed, 0.0);
    return sum / static_cast<double>(std::ssize(values) - 2 * trimmed);
}

struct LoggerRow {
    std::vector<double> latencies, algorithm, bus;  // milliseconds and Gbit/s of each call
};

}  // namespace

LoggedBandwidth logger_bandwidth(const LoggedCall& call, std::uint32_t world) {
    WEFT_CHECK(world > 0, "a call has ranks");
    const auto is = [&](auto... names) { return ((call.name == names) || ...); };
    const double n = world;
    // Of the size as logged.
    const double gbps = call.latency > Seconds{} ? call.size.value / milliseconds(call.latency) * 8 / 1e6 : 0.0;
    if (is("all_gather", "all_gather_into_tensor", "reduce_scatter", "reduce_scatter_tensor")) {
        return {gbps * n, gbps * (n - 1)};
    }
    if (is("all_to_all_single")) return {gbps, gbps * (n - 1) / n};
    if (is("all_reduce", "all_reduce_coalesced", "inference_all_reduce")) return {gbps * 2, gbps * 2 * (n - 1) / n};
    WEFT_CHECK(is("send", "recv", "isend", "irecv", "broadcast", "reduce", "gather", "scatter", "barrier"),
               "the logger has no rate for " + std::string(call.name));
    return {gbps, gbps};
}

std::string logger_size(Bytes size) {
    constexpr std::array<std::string_view, 9> units{"B", "KB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
    if (size.value == 0) return "0B";
    WEFT_CHECK(size.value >= 1, "a message has whole bytes");
    const double power = std::floor(std::log(size.value) / std::log(1024.0));
    std::string digits = fmt::format("{:.2f}", size.value / std::pow(1024.0, power));
    if (digits.ends_with('0')) digits.pop_back();  // "2.00" is written 2.0, "1.50" 1.5, "98.25" as it is
    return fmt::format("{} {}", digits, units.at(static_cast<std::size_t>(power)));
}

std::string logger_lines(std::span<const LoggedCall> calls, std::uint32_t world, RankId rank) {
    std::string out;
    for (const LoggedCall& call : calls) {
        const LoggedBandwidth bandwidth = logger_bandwidth(call, world);
        fmt::format_to(std::back_inserter(out),
                       "[INFO] [logging.py:96:log_dist] [Rank {}] comm op: {} | time (ms): {:.2f} | msg size: {} | "
                       "algbw (Gbps): {:.2f} | busbw (Gbps): {:.2f}\n",
                       static_cast<std::uint32_t>(rank), call.name, milliseconds(call.latency), logger_size(call.size),
                       bandwidth.algorithm_gbps, bandwidth.bus_gbps);
    }
    return out;
}

std::string logger_summary(std::span<const LoggedCall> calls, std::uint32_t world) {
    std::vector<std::string_view> names;  // in the order of first calls
    std::map<std::string_view, std::map<Bytes, LoggerRow>> rows;
    for (const LoggedCall& call : calls) {
        if (!rows.contains(call.name)) names.push_back(call.name);
        LoggerRow& row = rows[call.name][call.size];
        const LoggedBandwidth bandwidth = logger_bandwidth(call, world);
        row.latencies.push_back(milliseconds(call.latency));
        row.algorithm.push_back(bandwidth.algorithm_gbps);
        row.bus.push_back(bandwidth.bus_gbps);
    }
    std::string out = fmt::format("{:<20}{:<20}{:<20}{:<20}{:<20}{:<20}{:<20}\n", "Comm. Op", "Message Size", "Count",
                                  "Total Latency(ms)", "Avg Latency(ms)", "tput_avg (Gbps)", "busbw_avg (Gbps)");
    for (const std::string_view name : names) {
        fmt::format_to(std::back_inserter(out), "{}\n", name);
        for (const auto& [size, row] : rows[name]) {
            const double total = std::accumulate(row.latencies.begin(), row.latencies.end(), 0.0);
            fmt::format_to(std::back_inserter(out), "{:<20}{:<20}{:<20}{:<20.2f}{:<20.2f}{:<20.2f}{:<20.2f}\n", "",
                           logger_size(size), row.latencies.size(), total, trimmed_mean(row.latencies),
                           trimmed_mean(row.algorithm), trimmed_mean(row.bus));
        }
    }
    return out;
}

}  // namespace weft
