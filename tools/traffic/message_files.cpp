#include "tools/traffic/message_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/io/diagnostics.hpp"
#include "sim/io/units.hpp"
#include "topologies/measurements/csv_table.hpp"

namespace weft {
namespace {

constexpr double largest = 9007199254740992.0;  // 2^53: beyond, doubles are no longer all whole bytes

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// A number of bytes or as "64 KiB", from 0.
std::optional<Bytes> bytes_of(std::string_view text) {
    const std::optional<double> number = to_number(text);
    const std::optional<Bytes> bytes = number ? std::optional(Bytes{*number}) : parse_bytes(text);
    return bytes && bytes->value >= 0.0 && bytes->value <= largest ? bytes : std::nullopt;
}

// Seconds or as "10 us", from 0.
std::optional<Seconds> time_of(std::string_view text) {
    const std::optional<double> number = to_number(text);
    const std::optional<Seconds> time = number ? std::optional(Seconds{*number}) : parse_duration(text);
    return time && time->value >= 0.0 ? time : std::nullopt;
}

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
        const std::optional<Seconds> time = start.empty() ? Seconds{} : time_of(start);
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
