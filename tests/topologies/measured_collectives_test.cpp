// Collectives measured on real machines against predictions: one set of constants per machine and library, nothing
// fitted per row or per size. Prints the scorecard; the bounds are those that users are promised.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tests/csv.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/library_reader.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

std::uint32_t whole(const test::CsvRow& row, const char* key) {
    return static_cast<std::uint32_t>(std::stoul(row.at(key)));
}

Fabric fabric_of(const test::CsvRow& row) {
    Fabric fabric;
    std::istringstream nodes(row.at("placement"));
    for (std::uint32_t node = 0; nodes >> node;) fabric.placement.push_back(node);
    return fabric;
}

// Blocking calls, all groups at once: what a benchmark prints.
Seconds predict(const test::CsvRow& row) {
    const Machine machine = Machine::load(row.at("machine"));
    const SetLayout layout{
        .ranks = whole(row, "ranks"), .ranks_per_node = whole(row, "ranks_per_node"), .groups = whole(row, "groups")};
    const Topology topology = machine.topology(layout.nodes(), fabric_of(row));
    const Library* const library = machine.info().find_library(row.at("library"));
    if (library == nullptr) throw std::runtime_error("no library " + row.at("library"));
    CollectiveSet set(topology, *library, layout);
    const Bytes message{std::stod(row.at("size_bytes"))};
    const auto choice = set.costs().choose(*find_collective(row.at("op")), message, {.algorithm = row.at("algorithm")});
    if (!choice) throw std::runtime_error("no algorithm " + row.at("algorithm"));
    return library->blocking + set.time(*choice, message);
}

constexpr double not_promised = std::numeric_limits<double>::infinity();

struct Bound {
    const char* set;
    double median, ninetieth;  // absolute relative error
};
void PrintTo(const Bound& bound, std::ostream* out) { *out << bound.set; }

class measured_collectives : public testing::TestWithParam<Bound> {};

double quantile(const std::vector<double>& sorted, double q) {
    const double place = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

TEST_P(measured_collectives, are_predicted_within_their_bound) {
    std::vector<double> errors;
    for (const test::CsvRow& row : test::read_csv(WEFT_TEST_DATA "/topologies/data/collectives.csv")) {
        if (row.at("set") != GetParam().set) continue;
        const double measured = std::stod(row.at("time_us"));
        const double predicted = predict(row).value * 1e6;
        errors.push_back(std::abs(predicted / measured - 1.0));
        fmt::print("{:<12} {:<15} {:>5} {:>12} {:>12.1f} {:>12.1f} us {:+6.1f} %\n", row.at("machine"), row.at("op"),
                   row.at("ranks"), row.at("size_bytes"), measured, predicted, 100 * (predicted / measured - 1.0));
    }
    ASSERT_FALSE(errors.empty());
    std::sort(errors.begin(), errors.end());
    const double median = quantile(errors, 0.5), ninetieth = quantile(errors, 0.9);
    fmt::print("{}: {} rows, median {:.1f} %, 90th percentile {:.1f} %, largest {:.1f} %\n", GetParam().set,
               errors.size(), 100 * median, 100 * ninetieth, 100 * errors.back());
    EXPECT_LE(median, GetParam().median);
    EXPECT_LE(ninetieth, GetParam().ninetieth);
}

INSTANTIATE_TEST_SUITE_P(on, measured_collectives,
                         testing::Values(Bound{"mi250x_node", 0.15, 0.30}, Bound{"frontier_rings", 0.20, not_promised},
                                         Bound{"lumi_shared_nics", 0.20, 0.20}, Bound{"alps_2x4", 0.15, not_promised},
                                         Bound{"a100_node", 0.15, not_promised}, Bound{"h100_2x8", 0.15, not_promised},
                                         Bound{"reference_points", 0.15, 0.15}, Bound{"lumi_host_steps", 0.15, 0.15}),
                         [](const auto& test) { return std::string(test.param.set); });

}  // namespace
}  // namespace weft
