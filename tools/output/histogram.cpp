#include "tools/output/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/units.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/text_table.hpp"

namespace weft {
namespace {

constexpr double longest_bar = 40;  // marks

// The greatest power of two that is not above the size; 0 below one byte.
Bytes lower_edge(Bytes message) {
    WEFT_CHECK(message.value >= 0 && std::isfinite(message.value), "a message has a size");
    return {message.value < 1 ? 0 : std::exp2(std::ilogb(message.value))};
}

std::string range(const HistogramBin& bin) {
    return bin.from == Bytes{} ? "empty" : to_text(bin.from) + " to " + to_text(bin.to);
}

std::string bar(double calls, double most) {
    const double length = std::max(1.0, std::round(longest_bar * calls / most));
    return std::string(static_cast<std::size_t>(length), '#');
}

std::string operation_text(std::span<const HistogramBin> bins) {
    const double most = std::ranges::max(bins, {}, &HistogramBin::calls).calls;
    double all = 0;
    for (const HistogramBin& bin : bins) all += bin.calls;
    TextTable table({"message", "calls", "share", "bytes", "<"});
    for (const HistogramBin& bin : bins) {
        table.add({range(bin), number_text(bin.calls), fmt::format("{:.1f} %", 100 * bin.calls / all),
                   to_text(bin.bytes), bar(bin.calls, most)});
    }
    return fmt::format("{}: {} {}\n{}", bins.front().op, number_text(all), all == 1 ? "call" : "calls", table.text(2));
}

}  // namespace

std::vector<HistogramBin> message_histogram(std::span<const MessageCount> messages) {
    std::vector<std::string> ops;
    std::map<std::pair<std::string, Bytes>, HistogramBin> bins;
    for (const MessageCount& message : messages) {
        if (message.calls <= 0) continue;
        if (std::ranges::find(ops, message.op) == ops.end()) ops.push_back(message.op);
        const Bytes from = lower_edge(message.message);
        HistogramBin& bin = bins[{message.op, from}];
        bin.op = message.op;
        bin.from = from;
        bin.to = from == Bytes{} ? Bytes{1} : 2 * from;
        bin.calls += message.calls;
        bin.bytes += message.message * message.calls;
    }
    std::vector<HistogramBin> ordered;
    for (const std::string& op : ops) {
        for (auto bin = bins.lower_bound({op, Bytes{}}); bin != bins.end() && bin->first.first == op; ++bin) {
            ordered.push_back(bin->second);
        }
    }
    return ordered;
}

std::string histogram_text(std::span<const HistogramBin> bins) {
    std::string out;
    while (!bins.empty()) {
        const auto other = std::ranges::find_if(bins, [&](const HistogramBin& bin) { return bin.op != bins[0].op; });
        const auto count = static_cast<std::size_t>(other - bins.begin());
        if (!out.empty()) out += '\n';
        out += operation_text(bins.first(count));
        bins = bins.subspan(count);
    }
    return out;
}

std::string histogram_csv(std::span<const HistogramBin> bins) {
    std::string out = "op,from_bytes,to_bytes,calls,bytes\n";
    for (const HistogramBin& bin : bins) {
        fmt::format_to(std::back_inserter(out), "{},{},{},{},{}\n", bin.op, number_text(bin.from.value),
                       number_text(bin.to.value), number_text(bin.calls), number_text(bin.bytes.value));
    }
    return out;
}

}  // namespace weft
