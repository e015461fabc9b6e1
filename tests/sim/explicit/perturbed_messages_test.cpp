// Work in which nothing is alike, against a twin that shares no code with the runner: sizes, bandwidths and starts are
// all different, on racks whose links up are too narrow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "sim/explicit/message_runner.hpp"
#include "tests/sim/collective/toy_racks.hpp"
#include "tests/sim/explicit/naive_messages.hpp"

namespace weft {
namespace {

class Perturbed {
  public:
    // Everybody sends to the next rank, the one after that, and so on; from a start and with sizes of its own.
    Perturbed(std::uint32_t ranks, std::uint32_t per_rack, std::uint64_t seed) : random_(seed) {
        lay_links(ranks, per_rack);
        program_.tables.inboxes = 0;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const double start = 1e-15 * std::round(between(0, 2e10));
            program_.begin({RankId(rank), 0});
            program_.add({.kind = MessageActionKind::work, .subject = rank});
            program_.tables.durations.push_back({start});
            senders_.push_back({start, {}});
            for (std::uint32_t k = 1; k < ranks; ++k) send(rank, (rank + k) % ranks);
        }
    }

    double time() const { return MessageRunner<MessageProgram>(program_, program_.tables, topology_).run().time.value; }
    // With every other start so much later.
    double twin_time(double later) const {
        std::vector<toy::NaiveSender> senders = senders_;
        for (std::size_t i = 0; i < senders.size(); i += 2) senders[i].start += later;
        return std::ranges::max(toy::naive_ends(bandwidths_, senders));
    }

  private:
    double between(double low, double high) {
        return low + (high - low) * static_cast<double>(random_() >> 11U) * 0x1p-53;
    }

    void lay_links(std::uint32_t ranks, std::uint32_t per_rack) {
        std::vector<testing_support::Cable> of_ranks, of_racks;
        for (std::uint32_t i = 0; i < ranks + ranks / per_rack; ++i) {
            const double bandwidth = i < ranks ? 50e9 : 50e9 * per_rack / 4;
            for (int way = 0; way < 2; ++way) bandwidths_.push_back(bandwidth * between(0.8, 1.2));
            const BytesPerSecond up{bandwidths_[2 * i]}, down{bandwidths_[2 * i + 1]};
            (i < ranks ? of_ranks : of_racks).push_back({up, down});
        }
        topology_ = testing_support::toy_racks(of_ranks, of_racks, 500_ns);
    }

    void send(std::uint32_t from, std::uint32_t to) {
        const double bytes = std::round(65536 * between(0.5, 1.5));
        const auto shape = static_cast<std::uint32_t>(program_.tables.shapes.size());
        program_.add({.kind = MessageActionKind::send, .subject = shape, .to = ActorId(to)});
        program_.tables.shapes.push_back({.bytes = {bytes}});
        const Route route = topology_.route(RankId(from), RankId(to));
        senders_[from].messages.push_back(
            {topology_.latency(route).value, bytes, {route.links().begin(), route.links().end()}});
    }

    std::mt19937_64 random_;
    Topology topology_;
    MessageProgram program_;
    std::vector<double> bandwidths_;
    std::vector<toy::NaiveSender> senders_;
};

// A start that comes a femtosecond later, which is a tick of the clock, moves the end by far more than that, since who
// meets whom and for how long is passed on from message to message. So ends that are rounded to ticks differ from the
// twin's, which are not, by some ticks more each round.
TEST(perturbed_messages, end_when_a_naive_twin_says_but_for_what_ticks_grow_to) {
    double most_grown = 0.0;
    for (const std::uint32_t per_rack : {16U, 4U}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const Perturbed perturbed(16, per_rack, seed);
            const double time = perturbed.time(), twin = perturbed.twin_time(0.0);
            most_grown = std::max(most_grown, std::abs(perturbed.twin_time(1e-15) - twin));
            EXPECT_LT(std::abs(time / twin - 1.0), 1e-8) << per_rack << " a rack, seed " << seed;
        }
    }
    EXPECT_GT(most_grown, 1e-14);
}

}  // namespace
}  // namespace weft
