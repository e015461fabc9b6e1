// The output of the OSU micro-benchmarks:
//   # OSU MPI-ROCM Allreduce Latency Test v7.5
//   # Size       Avg Latency(us)
//   4                       6.52
// It does not say among how many ranks.
#include <fmt/format.h>

#include "topologies/machine.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

// "Allreduce" of the heading; a latency test without a name is one of two ranks.
std::optional<Collective> op_of(std::string_view heading) {
    std::string name;
    bool after_program = false;
    for (const std::string_view part : words(heading)) {
        const std::string word = letters(part);
        if (word == "latency") break;
        if (after_program) name += word;
        after_program = after_program || word.starts_with("mpi") || word.starts_with("xccl");
    }
    if (!after_program) return std::nullopt;
    if (name.empty()) return Collective::point_to_point;
    if (name == "alltoallpersonalizedexchange") return Collective::all_to_all;
    return find_collective(name);
}

}  // namespace

std::optional<std::string> osu_heading(const TableText& text) {
    for (const TableLine& line : text.comments) {
        const std::vector<std::string_view> parts = words(line.text);
        if (parts.size() > 2 && parts[0] == "#" && parts[1] == "OSU" && line.text.find("Test") != line.text.npos) {
            return std::string(line.text);
        }
    }
    return std::nullopt;
}

MeasurementTable read_osu(const TableText& text, const MeasurementHints& hints) {
    TableErrors errors(text.file);
    const std::string heading = osu_heading(text).value_or("");
    if (heading.find("Latency") == heading.npos) {
        errors.fail(0, fmt::format("\"{}\": only latency tests measure times", excerpt(heading)));
    }
    const std::optional<Collective> told = op_of(heading), op = told ? told : hints.op;
    if (!op) errors.fail(0, fmt::format("\"{}\" names no known collective", excerpt(heading)));
    const bool in_parts = *op == Collective::all_gather || *op == Collective::all_to_all;
    if (in_parts && hints.ranks == 0) errors.fail(0, "sizes are of one rank's part: say among how many ranks");
    MeasurementTable table{.file = text.file, .rows = {}, .skipped = {}};
    for (const TableLine& line : text.lines) {
        const std::vector<std::string_view> cells = words(line.text);
        const std::optional<double> size = to_number(cells.front());
        const std::optional<double> time = cells.size() > 1 ? to_number(cells[1]) : std::nullopt;
        if (size && *size == 0.0) {
            table.skipped.push_back({line.number, "size 0"});
        } else if (!size || !time || !(*size > 0.0) || !(*time > 0.0)) {
            errors.add(line.number, fmt::format("expected a size in bytes and a latency in microseconds, got \"{}\"",
                                                excerpt(line.text)));
        } else {
            const SizeConvention convention = hints.convention.value_or(SizeConvention::osu);
            table.rows.push_back({.op = *op,
                                  .ranks = hints.ranks,
                                  .nodes = hints.nodes,
                                  .size = full_size(*op, Bytes{*size}, convention, hints.ranks),
                                  .time = Seconds{*time / 1e6},
                                  .line = line.number});
        }
    }
    errors.check();
    return table;
}

}  // namespace weft
