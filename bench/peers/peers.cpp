// weft and SimGrid side by side: the same work, in turn, answers compared before times. See README.md.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/peers/measure.hpp"

namespace weft::peers {
namespace {

namespace po = boost::program_options;

constexpr double same_answer = 1e-3;

struct Row {
    std::string work;
    std::uint32_t ranks = 0;
    Measurement ours, theirs;

    double difference() const { return std::abs(ours.answer.simulated / theirs.answer.simulated - 1.0); }
    bool agrees() const { return difference() <= same_answer && ours.answer.messages == theirs.answer.messages; }
    double ratio() const { return theirs.processor / ours.processor; }
};

Measurement faster(const Measurement& a, const Measurement& b) { return a.processor <= b.processor ? a : b; }

// Work is written out by the process that does it, so that its memory and time count.
struct Choice {
    std::string name;
    std::uint32_t ranks = 0;
    std::function<Work()> work;
};

Row compare(const Choice& choice, unsigned repeat) {
    Row row{choice.name, choice.ranks, {}, {}};
    for (unsigned i = 0; i < repeat; ++i) {
        const Measurement ours = measure([&] { return run_weft(choice.work()); });
        const Measurement theirs = measure([&] { return run_simgrid(choice.work()); });
        row.ours = i == 0 ? ours : faster(row.ours, ours);
        row.theirs = i == 0 ? theirs : faster(row.theirs, theirs);
    }
    return row;
}

double transfers_per_second(const Measurement& m) { return static_cast<double>(m.answer.messages) / m.processor.value; }

void print_head() {
    fmt::print("{:<21} {:>5} {:>10} {:>12} {:>9} {:>9} {:>7} {:>9} {:>9} {:>8} {:>9}\n", "work", "ranks", "transfers",
               "simulated s", "weft s", "SimGrid s", "ratio", "weft M/s", "SimGrid", "weft MiB", "SimGrid");
    std::fflush(stdout);  // or the runs, which are processes, would print it again
}

void print(const Row& row) {
    fmt::print("{:<21} {:>5} {:>10} {:>12.6f} {:>9.3f} {:>9.3f} {:>7.1f} {:>9.2f} {:>9.2f} {:>8.0f} {:>9.0f}\n",
               row.work, row.ranks, row.ours.answer.messages, row.ours.answer.simulated.value, row.ours.processor.value,
               row.theirs.processor.value, row.ratio(), transfers_per_second(row.ours) / 1e6,
               transfers_per_second(row.theirs) / 1e6, row.ours.peak / 1_MiB, row.theirs.peak / 1_MiB);
    if (!row.agrees()) {
        fmt::print("  THE ANSWERS DIFFER: {} s and {} transfers there\n", row.theirs.answer.simulated.value,
                   row.theirs.answer.messages);
    }
}

nlohmann::ordered_json json_of(const Measurement& m) {
    return {{"simulated_s", m.answer.simulated.value},
            {"processor_s", m.processor.value},
            {"wall_s", m.wall.value},
            {"transfers_per_s", transfers_per_second(m)},
            {"peak_bytes", m.peak.value}};
}

nlohmann::ordered_json json_of(const Row& row) {
    return {{"work", row.work},
            {"ranks", row.ranks},
            {"transfers", row.ours.answer.messages},
            {"weft", json_of(row.ours)},
            {"simgrid", json_of(row.theirs)},
            {"difference", row.difference()},
            {"ratio", row.ratio()}};
}

// Eight by eight by what is left, from 1,024 ranks; below, four by four.
StepShape step_among(std::uint32_t ranks) {
    const std::uint32_t side = ranks >= 1024 ? 8 : 4;
    if (ranks < side * side || ranks % (side * side) != 0) {
        throw po::error(fmt::format("--ranks: a step needs a multiple of {} ranks, got {}", side * side, ranks));
    }
    return {.tensor = side, .data = ranks / side / side, .pipeline = side};
}

std::vector<Choice> choices(const std::string& name, std::uint32_t ranks, Likeness likeness) {
    if (ranks < 2) throw po::error("--ranks: at least 2");
    std::vector<Choice> result;
    if (name == "all" || name == "ring") {
        result.push_back({"ring all-reduce", ranks, [=] { return ring_all_reduce(ranks, likeness); }});
    }
    if (name == "all" || name == "all_to_all") {
        result.push_back({"staggered all-to-all", ranks, [=] { return staggered_all_to_all(ranks, likeness); }});
    }
    if (name == "all" || name == "step") {
        const StepShape shape = step_among(ranks);
        result.push_back({"GPT-like step", ranks, [=] { return gpt_step(shape, likeness); }});
    }
    if ((name == "all" && likeness == Likeness::perturbed) || name == "random") {
        if (ranks % ranks_per_rack != 0) {
            throw po::error(fmt::format("--ranks: racks have {} ranks, got {}", ranks_per_rack, ranks));
        }
        result.push_back({"random pairs on racks", ranks, [=] { return random_pairs(ranks); }});
    }
    if (result.empty()) throw po::error("--work: expected ring, all_to_all, step, random or all, got \"" + name + "\"");
    return result;
}

int run(int argc, char** argv) {
    po::options_description options("weft and SimGrid side by side; ratios are of processor time");
    options.add_options()("help", "this text")("json", "a JSON array instead of a table")(
        "smoke", "64 ranks: whether answers agree, not how fast")(
        "work", po::value<std::string>()->default_value("all"), "ring, all_to_all, step, random or all")(
        "perturb", "starts, times, sizes and cables of no two ranks are alike; and random pairs over 4:1 racks")(
        "ranks", po::value<std::uint32_t>()->default_value(1024), "how many")(
        "repeat", po::value<unsigned>()->default_value(1), "runs of each in turn, of which the fastest counts");
    po::variables_map map;
    po::store(po::parse_command_line(argc, argv, options), map);
    po::notify(map);
    if (map.count("help") > 0) {
        std::cout << options;
        return EXIT_SUCCESS;
    }
    const unsigned repeat = std::max(1U, map["repeat"].as<unsigned>());
    const std::uint32_t ranks = map.count("smoke") > 0 ? 64 : map["ranks"].as<std::uint32_t>();
    const Likeness likeness = map.count("perturb") > 0 ? Likeness::perturbed : Likeness::equal;
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    bool agree = true;
    if (map.count("json") == 0) print_head();
    for (const Choice& choice : choices(map["work"].as<std::string>(), ranks, likeness)) {
        const Row row = compare(choice, repeat);
        agree = agree && row.agrees();
        if (map.count("json") == 0) print(row);
        std::fflush(stdout);
        rows.push_back(json_of(row));
    }
    if (map.count("json") > 0) std::cout << rows.dump(2) << '\n';
    return agree ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace weft::peers

int main(int argc, char** argv) {
    try {
        return weft::peers::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "peers: {}\n", error.what());
        return EXIT_FAILURE;
    }
}
