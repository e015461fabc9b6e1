#include "tools/traffic/request.hpp"

#include <fmt/format.h>
#include <boost/program_options/errors.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "sim/base/hash.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/units.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

using boost::program_options::error;

// A cycle through all ranks, each as likely as any other (Sattolo, Inf. Process. Lett. 22 (1986) 315-317).
std::vector<std::uint32_t> cycle(std::uint32_t ranks, std::uint64_t seed) {
    auto to = numbers_below<std::uint32_t>(ranks);
    for (std::uint32_t i = ranks - 1; i > 0; --i) std::swap(to[i], to[hash_of({seed, i}) % i]);
    return to;
}

// What stands after the colon.
std::uint64_t number_after_colon(std::string_view pattern, std::string_view text, std::uint64_t least,
                                 std::uint64_t most) {
    const auto number = parse_as<std::uint64_t>(text);
    if (number && *number >= least && *number <= most) return *number;
    throw error(
        fmt::format("{}: expected a number from {} to {} after the colon, got \"{}\"", pattern, least, most, text));
}

constexpr double largest = 9007199254740992.0;  // 2^53: beyond, doubles are no longer all whole bytes

// A number or, as `parse` reads it, with a unit: from 0.
template <class Quantity>
std::optional<Quantity> amount(std::string_view text, std::optional<Quantity> (*parse)(std::string_view),
                               double most = std::numeric_limits<double>::infinity()) {
    const std::optional<double> number = to_number(text);
    const std::optional<Quantity> value = number ? std::optional(Quantity{*number}) : parse(text);
    return value && value->value >= 0.0 && value->value <= most ? value : std::nullopt;
}
std::optional<Bytes> bytes_of(std::string_view text) { return amount(text, parse_bytes, largest); }

class ListReader {
  public:
    ListReader(std::string file, std::string_view text, std::uint32_t most_ranks)
        : text_(split_lines(std::move(file), text)), errors_(text_.file), most_ranks_(most_ranks) {}

    RankMessages read() {
        const CsvTable table = read_csv_table(text_, errors_);
        if (!find_columns(table)) errors_.check();
        for (const CsvRow& row : table.rows) read_row(row);
        errors_.check();
        return std::move(result_);
    }

  private:
    // False after a mistake.
    bool find_columns(const CsvTable& table) {
        const std::vector<std::string> known{"source", "destination", "bytes", "start"};
        if (text_.lines.empty()) errors_.fail(0, "expected a line with source, destination, bytes and, perhaps, start");
        const int line = text_.lines.front().number;
        bool good = true;
        const auto mistake_of_names = [&](std::string message) {
            errors_.add(line, std::move(message));
            good = false;
        };
        for (const std::string& column : table.columns) {
            if (std::ranges::find(known, column) != known.end()) continue;
            mistake_of_names(fmt::format("no column is called \"{}\"{} (known: {})", excerpt(column),
                                         suggestion(column, known), fmt::join(known, ", ")));
        }
        std::array<std::optional<std::size_t>, 4> found;
        for (std::size_t i = 0; i < known.size(); ++i) {
            found[i] = table.find(known[i]);
            if (!found[i] && known[i] != "start") mistake_of_names(fmt::format("no column \"{}\"", known[i]));
        }
        source_ = found[0].value_or(0), destination_ = found[1].value_or(0), bytes_ = found[2].value_or(0);
        start_ = found[3];
        if (table.rows.empty()) errors_.add(0, "no messages");
        return good;
    }

    void mistake(const CsvRow& row, std::size_t column, std::string_view expected) {
        errors_.add(row.line, row.places[column],
                    fmt::format("expected {}, got \"{}\"", expected, excerpt(row.cells[column])));
    }

    std::uint32_t rank(const CsvRow& row, std::size_t column) {
        const std::optional<double> value = to_number(trimmed(row.cells[column]));
        if (value && *value >= 0.0 && *value == std::trunc(*value) && *value < most_ranks_) {
            return static_cast<std::uint32_t>(*value);
        }
        mistake(row, column, fmt::format("a rank from 0 to {}", most_ranks_ - 1));
        return most_ranks_;
    }

    void read_row(const CsvRow& row) {
        RankMessage message{.from = rank(row, source_), .to = rank(row, destination_)};
        const std::optional<Bytes> bytes = bytes_of(trimmed(row.cells[bytes_]));
        if (!bytes || !(*bytes > Bytes{})) mistake(row, bytes_, "bytes above 0 as 65536 or \"64 KiB\"");
        const std::string_view start = start_ ? trimmed(row.cells[*start_]) : "";
        const std::optional<Seconds> time = start.empty() ? Seconds{} : amount(start, parse_duration);
        if (!time) mistake(row, *start_, "seconds of at least 0, or as \"10 us\"");
        if (message.from == message.to && message.from < most_ranks_) {
            errors_.add(row.line, row.places[destination_], fmt::format("rank {} sends to itself", message.from));
        }
        message.bytes = bytes.value_or(Bytes{});
        message.start = time.value_or(Seconds{});
        result_.ranks = std::max({result_.ranks, message.from + 1, message.to + 1});
        result_.messages.push_back(message);
    }

    TableText text_;
    TableErrors errors_;
    std::uint32_t most_ranks_;
    std::size_t source_ = 0, destination_ = 0, bytes_ = 0;
    std::optional<std::size_t> start_;
    RankMessages result_;
};

}  // namespace

void refuse_so_many() {
    throw error(fmt::format("more messages than the {} that are run one by one at most", most_rank_messages));
}

std::vector<std::string> traffic_pattern_names() {
    return {"shift", "permutation", "incast", "neighbors", "bisection", "uniform"};
}

std::vector<RankMessage> traffic_pattern(std::string_view text, std::uint32_t ranks, Bytes size) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view name = text.substr(0, colon);
    const bool has_number = colon < text.size();
    const std::vector<std::string> known = traffic_pattern_names();
    if (std::ranges::find(known, name) == known.end()) {
        throw error(fmt::format("no pattern of traffic is called \"{}\"{} (known: {})", name, suggestion(name, known),
                                fmt::join(known, ", ")));
    }
    if (ranks < 2) throw error(fmt::format("{}: expected at least 2 ranks, got {}", name, ranks));
    const auto number = [&](std::uint64_t otherwise, std::uint64_t least, std::uint64_t most) {
        return has_number ? number_after_colon(name, text.substr(colon + 1), least, most) : otherwise;
    };
    std::vector<RankMessage> messages;
    const auto add = [&](std::uint64_t from, std::uint64_t to) {
        if (messages.size() == most_rank_messages) refuse_so_many();
        messages.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), size, {}});
    };
    const auto shift = [&](std::uint64_t by) {
        for (std::uint64_t rank = 0; rank < ranks; ++rank) add(rank, (rank + by) % ranks);
    };
    if (name == "shift") {
        shift(number(1, 1, ranks - 1));
    } else if (name == "permutation") {
        const std::vector<std::uint32_t> to = cycle(ranks, number(0, 0, std::numeric_limits<std::uint64_t>::max()));
        for (std::uint32_t rank = 0; rank < ranks; ++rank) add(rank, to[rank]);
    } else if (name == "incast") {
        const std::uint64_t senders = number(ranks - 1, 1, ranks - 1);
        for (std::uint64_t rank = 1; rank <= senders; ++rank) add(rank, 0);
    } else if (has_number) {
        throw error(fmt::format("{}: takes no number, got \"{}\"", name, text));
    } else if (name == "neighbors") {
        for (std::uint64_t rank = 0; rank < ranks; ++rank) {
            add(rank, (rank + ranks - 1) % ranks);
            if (ranks > 2) add(rank, (rank + 1) % ranks);
        }
    } else if (name == "bisection") {
        if (ranks % 2 != 0) throw error(fmt::format("bisection: expected an even number of ranks, got {}", ranks));
        shift(ranks / 2);
    } else {
        for (std::uint64_t by = 1; by < ranks; ++by) shift(by);
    }
    return messages;
}

RankMessages read_message_list(std::string file, std::string_view text, std::uint32_t most_ranks) {
    return ListReader(std::move(file), text, most_ranks).read();
}

RankMessages read_traffic_matrix(std::string file, std::string_view text, std::uint32_t most_ranks) {
    const TableText table = split_lines(std::move(file), text);
    TableErrors errors(table.file);
    if (table.lines.size() > most_ranks) {
        errors.fail(table.lines[most_ranks].number, fmt::format("expected at most {} lines, one for each rank, got {}",
                                                                most_ranks, table.lines.size()));
    }
    RankMessages result{.ranks = static_cast<std::uint32_t>(table.lines.size())};
    for (std::uint32_t from = 0; from < result.ranks && !errors.is_full(); ++from) {
        const int line = table.lines[from].number;
        const std::optional<CsvRow> row = read_csv_row(table.lines[from]);
        if (!row || row->cells.size() != result.ranks) {
            errors.add(line, row ? fmt::format("expected {} columns, as there are lines, got {}", result.ranks,
                                               row->cells.size())
                                 : "a quotation mark is open at the end of the line");
            continue;
        }
        for (std::uint32_t to = 0; to < result.ranks; ++to) {
            const std::optional<Bytes> bytes = bytes_of(trimmed(row->cells[to]));
            if (!bytes) {
                errors.add(
                    line, row->places[to],
                    fmt::format("expected bytes from 0 as 65536 or \"64 KiB\", got \"{}\"", excerpt(row->cells[to])));
            } else if (from == to && *bytes > Bytes{}) {
                errors.add(line, row->places[to], fmt::format("rank {} sends to itself: expected 0", from));
            } else if (*bytes > Bytes{}) {
                result.messages.push_back({from, to, *bytes, {}});
            }
        }
    }
    errors.check();
    if (result.messages.empty()) errors.fail(0, "no messages");
    return result;
}

}  // namespace weft
