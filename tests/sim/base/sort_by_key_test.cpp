#include "sim/base/sort_by_key.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace weft {
namespace {

// Twin: std::sort. With few things, and with many for each key.
TEST(sort_by_key, sorts_by_keys_and_then_by_the_rest) {
    std::mt19937 random(1);
    const auto draw = [&](std::size_t below) { return static_cast<std::uint32_t>(random() % below); };
    for (int round = 0; round < 200; ++round) {
        const std::size_t keys = 1 + draw(50);
        std::vector<std::pair<std::uint32_t, std::uint32_t>> things;
        for (std::size_t i = draw(300); i > 0; --i) things.emplace_back(draw(keys), draw(10));
        auto twin = things;
        std::ranges::sort(twin);
        sort_by_key(
            things, keys, [](const auto& thing) { return thing.first; },
            [](const auto& a, const auto& b) { return a.second < b.second; });
        EXPECT_EQ(things, twin);
    }
}

}  // namespace
}  // namespace weft
