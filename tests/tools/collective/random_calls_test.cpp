// Calls drawn at random: on any machine, of any size and placement, a call obeys what physics demands of it.
// WEFT_RANDOM_CALLS says how many (60 if it is not set).
#include <gtest/gtest.h>
#include <boost/program_options/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

#include "tools/collective/collective.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

class Draws {
  public:
    explicit Draws(std::uint32_t seed) : numbers_(seed) {}
    std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(numbers_() % n); }
    template <class T>
    const T& of(const std::vector<T>& all) {
        return all[below(all.size())];
    }
    std::vector<std::uint32_t> nodes(std::uint32_t count, std::uint32_t among) {
        std::vector<std::uint32_t> all(among);
        std::iota(all.begin(), all.end(), 0U);
        std::shuffle(all.begin(), all.end(), numbers_);
        all.resize(count);
        return all;
    }

  private:
    std::mt19937 numbers_;
};

CollectiveRequest drawn(Draws& draws) {
    static const std::vector<std::string> machines{"frontier", "lumi-g",      "alps",     "perlmutter", "dgx-a100",
                                                   "dgx-h100", "gb200-nvl72", "dgx-b200", "leonardo",   "jean-zay"};
    CollectiveRequest request{.machine = Machine::load(draws.of(machines))};
    const MachineInfo& info = request.machine.info();
    request.library = &info.libraries[draws.below(info.libraries.size())];
    request.op = every_collective[draws.below(every_collective.size() - 1)];  // not between two alone
    SetLayout& layout = request.layout;
    layout.ranks_per_node = 1 + draws.below(std::min(info.accelerators_per_node, 16U));
    const std::uint32_t nodes = 1 + draws.below(std::min(info.nodes, 9U));
    layout.ranks = layout.ranks_per_node * nodes;
    if (draws.below(2) == 0 && layout.ranks % 2 == 0) layout.groups = 2;
    if (draws.below(2) == 0) request.fabric.placement = draws.nodes(nodes, std::min(info.nodes, 64U));
    request.messages = {Bytes{std::exp2(3 + draws.below(30))}};
    return request;
}

std::string told(const CollectiveRequest& request) {
    return request.machine.info().name + ' ' + request.library->name + ' ' + std::string(name(request.op)) + ' ' +
           std::to_string(request.layout.ranks) + " ranks, " + std::to_string(request.layout.ranks_per_node) +
           " per node, " + std::to_string(request.layout.groups) + " groups, " +
           std::to_string(request.messages.front().value) + " B";
}

void expect_sound(Draws& draws) {
    CollectiveRequest request = drawn(draws);
    SCOPED_TRACE(told(request));
    std::vector<CollectiveRow> rows;
    try {
        rows = predict(request);
    } catch (const boost::program_options::error&) {
        return;  // a collective that the library does not run among so many
    }
    const CollectiveRow row = rows.front();
    ASSERT_TRUE(std::isfinite(row.time.value));
    EXPECT_GE(row.time, request.library->launch + request.library->blocking);
    for (const ClassUtilization& use : row.links) {
        EXPECT_LE(use.utilization, 1.0 + 1e-9) << use.link_class << " carries more than it can";
    }
    request.preference = {std::string(row.algorithm), std::string(row.protocol)};
    CollectiveRequest longer = request;
    longer.messages = {row.message * 2.0};
    const bool is_cut = request.library->find(request.op, row.algorithm, row.protocol)->chunk > Bytes{};
    if (!is_cut) EXPECT_GE(predict(longer).front().time, row.time) << "twice as much takes less";
    if (row.links.empty()) return;
    // A class with less bandwidth, in an order that is given: channels are searched for bytes, and those that are laid
    // past slow links may by chance be the shorter ones.
    request.layout.order.resize(request.layout.ranks);
    std::iota(request.layout.order.begin(), request.layout.order.end(), 0U);
    const Seconds unloaded = predict(request).front().time;
    CollectiveRequest loaded = request;
    const std::string& link_class = row.links[draws.below(row.links.size())].link_class;
    loaded.fabric.background = {{link_class, 0.1 + 0.08 * draws.below(11)}};
    EXPECT_GE(predict(loaded).front().time * (1.0 + 1e-9), unloaded) << link_class << " is loaded";
}

TEST(random_calls, are_no_faster_than_links_and_no_slower_on_faster_ones) {
    const char* const text = std::getenv("WEFT_RANDOM_CALLS");
    const long calls = text == nullptr ? 60 : std::strtol(text, nullptr, 10);
    Draws draws(20261128);
    for (long i = 0; i < calls && !::testing::Test::HasFailure(); ++i) expect_sound(draws);
}

}  // namespace
}  // namespace weft
