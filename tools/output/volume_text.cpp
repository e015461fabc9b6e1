#include "tools/output/volume_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"

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
    const auto all = sum_of<double>(bins, &HistogramBin::calls);
    return fmt::format("{}: {} {}\n{}", bins.front().op, number_text(all), all == 1 ? "call" : "calls",
                       table_text(histogram_table(bins), 2));
}

// `times` says how often a row counts.
template <class Times>
std::vector<CollectiveTotal> totals(const VolumeTable& table, Times times) {
    std::vector<CollectiveTotal> out;
    for (const VolumeRow& row : table.rows) {
        const double repeats = times(row);
        if (repeats == 0) continue;
        auto total = std::ranges::find(out, row.op, &CollectiveTotal::op);
        if (total == out.end()) total = out.insert(out.end(), {.op = row.op});
        total->calls += row.calls * repeats;
        total->volume += row.volume * repeats;
    }
    const Bytes all = sum(out);
    if (all > Bytes{}) {
        for (CollectiveTotal& total : out) total.share = total.volume / all;
    }
    return out;
}

std::optional<std::string> filled(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

// Texts leave out columns that no row fills.
ResultTable rows_table(const VolumeTable& table) {
    const Bytes step = sum(steady_totals(table));
    const auto own = [&table](const VolumeRow& row) { return row.volume * repeats_per_step(table, row); };
    const auto is_logged = [](const VolumeRow& row) { return row.logged >= 0; };
    const auto where = [&](const char* heading, const auto& has) {
        return std::ranges::any_of(table.rows, has) ? std::optional<std::string>(heading) : std::nullopt;
    };
    return table_of<VolumeRow>(
        table.rows, {{"op", "<op", &VolumeRow::op},
                     {"dimension", "<dimension", &VolumeRow::dimension},
                     {"group_size", "group", &VolumeRow::group_size},
                     {"calls", "calls", whole(&VolumeRow::calls)},
                     {"message_bytes", "message", whole(&VolumeRow::message)},
                     {"volume_bytes", "volume", whole(&VolumeRow::volume)},
                     {"when", "<when", &VolumeRow::when},
                     {"step_bytes", {}, own, Readers::of_csv},
                     {"step_percent",
                      {},
                      [=](const VolumeRow& row) { return step > Bytes{} ? 100 * (own(row) / step) : 0.0; },
                      Readers::of_csv},
                     {"type", where("<type", [](const VolumeRow& row) { return !row.type.empty(); }),
                      [](const VolumeRow& row) { return filled(row.type); }},
                     {"", where("logged", is_logged),
                      [](const VolumeRow& row) { return row.logged < 0 ? "-" : to_text(Bytes{row.logged}); }},
                     {"label", where("<what", [](const VolumeRow& row) { return !row.label.empty(); }),
                      [](const VolumeRow& row) { return filled(row.label); }},
                     {"logged_bytes", {}, [](const VolumeRow& row) {
                          return row.logged < 0 ? std::nullopt : std::optional(Whole<double>{row.logged});
                      }}});
}

ResultTable totals_table(const std::vector<CollectiveTotal>& totals, std::string_view when) {
    return table_of<CollectiveTotal>(
        totals, {{"op", "<op", &CollectiveTotal::op},
                 {"when", {}, [when](const CollectiveTotal&) { return when; }, Readers::of_csv},
                 {"calls", "calls", whole(&CollectiveTotal::calls)},
                 {"volume_bytes", "volume", whole(&CollectiveTotal::volume)},
                 {"", "share", as<Share>(&CollectiveTotal::share)},
                 {"percent", {}, whole([](const CollectiveTotal& total) { return 100 * total.share; })}});
}

std::string totals_text(const std::string& heading, const std::vector<CollectiveTotal>& totals) {
    const std::string out = fmt::format("\n{}: {} per rank\n", heading, to_text(sum(totals)));
    return totals.empty() ? out : out + table_text(totals_table(totals, ""), 2);
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
    for_each_operation(
        bins, [&](std::span<const HistogramBin> own) { out += (out.empty() ? "" : "\n") + operation_text(own); });
    return out;
}

ResultTable histogram_table(std::span<const HistogramBin> bins) {
    using Bin = HistogramBin;
    double all = 0, most = 0;
    for (const Bin& bin : bins) {
        all += bin.calls;
        most = std::max(most, bin.calls);
    }
    return table_of<Bin>(bins, {{"op", {}, &Bin::op},
                                {"", "message", range},
                                {"from_bytes", {}, whole(&Bin::from)},
                                {"to_bytes", {}, whole(&Bin::to)},
                                {"calls", "calls", whole(&Bin::calls)},
                                {"", "share", [=](const Bin& bin) { return Share{bin.calls / all}; }},
                                {"bytes", "bytes", whole(&Bin::bytes)},
                                {"", "<", [=](const Bin& bin) { return bar(bin.calls, most); }}});
}

double repeats_per_step(const VolumeTable& table, const VolumeRow& row) {
    if (row.when == "micro-batch") return table.micro_batches;
    return row.when == "step" ? 1 : 0;
}

std::vector<CollectiveTotal> steady_totals(const VolumeTable& table) {
    return totals(table, [&](const VolumeRow& row) { return repeats_per_step(table, row); });
}

std::vector<CollectiveTotal> once_totals(const VolumeTable& table, std::string_view when) {
    return totals(table, [&](const VolumeRow& row) { return row.when == when ? 1.0 : 0.0; });
}

Bytes sum(const std::vector<CollectiveTotal>& totals) { return sum_of<Bytes>(totals, &CollectiveTotal::volume); }

std::vector<HistogramBin> volume_histogram(const VolumeTable& table) {
    return message_histogram(list_of<MessageCount>(table.rows, [&](const VolumeRow& row) {
        return MessageCount{row.op, row.message, row.calls * repeats_per_step(table, row)};
    }));
}

std::string volume_text(const VolumeTable& table, VolumeParts parts) {
    std::string out = table_text(rows_table(table));
    for (const auto& [when, heading] :
         {std::pair{"start-up", "start-up"}, std::pair{"first-step", "first step only"}}) {
        if (const std::vector<CollectiveTotal> once = once_totals(table, when); !once.empty()) {
            out += totals_text(heading, once);
        }
    }
    out += totals_text(fmt::format("one step ({} {})", table.micro_batches,
                                   table.micro_batches == 1 ? "micro-batch" : "micro-batches"),
                       steady_totals(table));
    if (parts == VolumeParts::rows_and_histogram)
        out += "\nmessages of one step\n\n" + histogram_text(volume_histogram(table));
    return out;
}

std::string volume_json(const VolumeTable& table, VolumeParts parts, const Json* job) {
    Json json;
    if (job != nullptr) json["job"] = *job;
    json["rows"] = table_json(rows_table(table));
    const std::vector<CollectiveTotal> steady = steady_totals(table);
    Json& totals = json["totals"];
    totals = {{"volume_bytes", number<Json>(sum(steady).value)},
              {"micro_batches", table.micro_batches},
              {"collectives", table_json(totals_table(steady, ""))}};
    for (const auto& [when, key] : {std::pair{"start-up", "start_up"}, std::pair{"first-step", "first_step"}}) {
        if (const std::vector<CollectiveTotal> once = once_totals(table, when); !once.empty()) {
            totals[key] = table_json(totals_table(once, ""));
        }
    }
    if (parts == VolumeParts::rows_and_histogram) {
        json["histogram"] = table_json(histogram_table(volume_histogram(table)));
    }
    return json_text(json);
}

std::string volume_csv(const VolumeTable& table) { return table_csv(rows_table(table)); }

std::string volume_totals_csv(const VolumeTable& table) {
    ResultTable all = totals_table({}, "");
    const auto add = [&](std::string_view when, const std::vector<CollectiveTotal>& totals) {
        std::ranges::move(totals_table(totals, when).rows, std::back_inserter(all.rows));
    };
    for (const std::string_view when : {"start-up", "first-step"}) add(when, once_totals(table, when));
    add("step", steady_totals(table));
    return table_csv(all);
}

}  // namespace weft
