#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "topologies/machine.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string_view>;
using Cell = std::optional<std::size_t>;  // a column's place

struct TimeColumn {
    std::size_t column = 0;
    double unit = 1.0;  // seconds
};

Cell first_of(const CsvTable& table, const Names& names) {
    for (const std::string_view name : names) {
        if (const Cell found = table.find(name)) return found;
    }
    return std::nullopt;
}

// "time_us_median": microseconds. The first that is for no other place, smallest or largest value.
std::optional<TimeColumn> time_column(const CsvTable& table, ResultPlace place) {
    constexpr std::array<std::pair<std::string_view, double>, 4> units{
        {{"time_s", 1.0}, {"time_ms", 1e-3}, {"time_us", 1e-6}, {"time_ns", 1e-9}}};
    const std::string_view other = place == ResultPlace::in_place ? "_oop" : "_ip";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string& name = table.columns[i];
        if (name.ends_with(other) || name.ends_with("_min") || name.ends_with("_max")) continue;
        for (const auto& [prefix, unit] : units) {
            if (name == prefix || name.starts_with(std::string(prefix) + "_")) return TimeColumn{i, unit};
        }
    }
    return std::nullopt;
}

class CsvReader {
  public:
    CsvReader(const TableText& text, const MeasurementHints& hints)
        : text_(text), hints_(hints), errors_(text.file), csv_(read_csv_table(text, errors_)) {
        errors_.check();
        op_ = first_of(csv_, {"collective", "op", "operation"});
        ranks_ = first_of(csv_, {"ranks", "nranks", "ranks_gcd", "n_gpus"});
        nodes_ = first_of(csv_, {"nnodes", "nodes"});
        size_ = first_of(csv_, {"size_bytes", "bytes", "size"});
        convention_ = first_of(csv_, {"convention", "size_convention"});
        time_ = time_column(csv_, hints.place);
        const std::string suffix = hints.place == ResultPlace::in_place ? "_ip" : "_oop";
        const std::string algbw = "algbw" + suffix, busbw = "busbw" + suffix;
        algbw_ = first_of(csv_, {"algbw", "algbw_gbps", algbw});
        busbw_ = first_of(csv_, {"busbw", "busbw_gbps", busbw});
    }

    MeasurementTable read() {
        check_columns();
        MeasurementTable table{.file = text_.file, .rows = {}, .skipped = {}};
        for (const CsvRow& row : csv_.rows) {
            if (is_wanted(row)) read_row(row, table);
        }
        errors_.check();
        return table;
    }

  private:
    void check_columns() {
        const int line = text_.lines.front().number;
        if (!size_) errors_.add(line, "no column size_bytes");
        if (!op_ && !hints_.op) errors_.add(line, "no column collective: name the operation");
        if (!time_ && !algbw_ && !busbw_) errors_.add(line, "no column of times (time_us, ...) or bandwidths (busbw)");
        for (const auto& [column, value] : hints_.where) {
            if (csv_.find(column)) continue;
            errors_.add(line, fmt::format("no column is called \"{}\"{}", column, suggestion(column, csv_.columns)));
        }
        errors_.check();
    }

    bool is_wanted(const CsvRow& row) const {
        return std::all_of(hints_.where.begin(), hints_.where.end(), [&](const auto& condition) {
            return row.cells[*csv_.find(condition.first)] == condition.second;
        });
    }

    std::string text_of(const CsvRow& row, const Cell& cell) const { return cell ? row.cells[*cell] : ""; }

    // 0 if the cell is empty or its column absent.
    double positive(const CsvRow& row, const Cell& cell) {
        if (!cell || row.cells[*cell].empty()) return 0.0;
        const std::optional<double> value = to_number(row.cells[*cell]);
        if (value && *value >= 0.0) return *value;
        errors_.add(row.line, fmt::format("{}: expected a number of at least 0, got \"{}\"", csv_.columns[*cell],
                                          excerpt(row.cells[*cell])));
        return 0.0;
    }

    std::uint32_t count(const CsvRow& row, const Cell& cell, std::uint32_t otherwise) {
        const double value = positive(row, cell);
        if (value == 0.0) return otherwise;
        if (value == std::trunc(value) && value < 4294967296.0) return static_cast<std::uint32_t>(value);
        errors_.add(row.line, fmt::format("{}: expected a whole number, got {}", csv_.columns[*cell], value));
        return otherwise;
    }

    // The size of the full buffer; 0 after an error.
    Bytes message(const CsvRow& row, const CollectiveMeasurement& read) {
        const Bytes size{positive(row, size_)};
        const bool in_parts = read.op == Collective::all_gather || read.op == Collective::all_to_all;
        if (!in_parts) return size;
        std::optional<SizeConvention> convention = hints_.convention;
        if (convention_) convention = enumerator_called<SizeConvention>(row.cells[*convention_]);
        if (!convention && convention_) {
            errors_.add(row.line,
                        fmt::format("convention: expected nccl or osu, got \"{}\"", excerpt(row.cells[*convention_])));
        } else if (!convention && speaks_of_osu()) {
            errors_.add(row.line,
                        "a comment speaks of OSU: say by --convention (or a column of that name) whether "
                        "sizes are of one rank's part (osu) or of the full buffer (nccl)");
        } else if (convention == SizeConvention::osu && read.ranks == 0) {
            errors_.add(row.line, "the size is of one rank's part: say among how many ranks");
        } else {
            return full_size(read.op, size, convention.value_or(SizeConvention::nccl), read.ranks);
        }
        return Bytes{};
    }

    bool speaks_of_osu() const {
        return std::any_of(text_.comments.begin(), text_.comments.end(),
                           [](const TableLine& line) { return line.text.find("OSU") != line.text.npos; });
    }

    // By the time, or by a bandwidth where there is none; 0 if the row has neither.
    Seconds time(const CsvRow& row, const CollectiveMeasurement& read) {
        if (time_) {
            const Seconds time{positive(row, time_->column) * time_->unit};
            if (time > Seconds{}) return time;
        }
        if (const BytesPerSecond rate{positive(row, algbw_) * 1e9}; rate.value > 0.0) return read.size / rate;
        const BytesPerSecond rate{positive(row, busbw_) * 1e9};
        if (!(rate.value > 0.0)) return {};
        if (read.ranks > 0) return read.size * bus_factor(read.op, read.ranks) / rate;
        errors_.add(row.line, "a bus bandwidth, but among unknown ranks");
        return {};
    }

    std::string variant(const CsvRow& row) const {
        std::string text;
        for (const std::string_view name : {"variant", "algorithm", "algo", "tool", "path", "n_groups"}) {
            const Cell cell = csv_.find(name);
            if (!cell || row.cells[*cell].empty()) continue;
            text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, row.cells[*cell]);
        }
        return text;
    }

    void read_row(const CsvRow& row, MeasurementTable& table) {
        const std::optional<Collective> op = op_ ? find_collective(row.cells[*op_]) : hints_.op;
        if (!op) {
            errors_.add(row.line, fmt::format("no collective is called \"{}\"", excerpt(row.cells[*op_])));
            return;
        }
        CollectiveMeasurement read{.op = *op,
                                   .ranks = count(row, ranks_, hints_.ranks),
                                   .nodes = count(row, nodes_, hints_.nodes),
                                   .size = {},
                                   .time = {},
                                   .library = text_of(row, csv_.find("library")),
                                   .machine = text_of(row, csv_.find("machine")),
                                   .variant = variant(row),
                                   .line = row.line};
        read.size = message(row, read);
        read.time = time(row, read);
        if (read.size > Bytes{} && read.time > Seconds{}) {
            table.rows.push_back(std::move(read));
        } else {
            table.skipped.push_back({row.line, read.size > Bytes{} ? "no time" : "no size"});
        }
    }

    const TableText& text_;
    const MeasurementHints& hints_;
    TableErrors errors_;
    CsvTable csv_;
    Cell op_, ranks_, nodes_, size_, convention_, algbw_, busbw_;
    std::optional<TimeColumn> time_;
};

}  // namespace

MeasurementTable read_measurement_csv(const TableText& text, const MeasurementHints& hints) {
    return CsvReader(text, hints).read();
}

}  // namespace weft
