#include "sim/base/group_by_key.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace weft {
namespace {

// Twin: std::stable_sort. With few things, and with many for each key.
TEST(group_by_key, keeps_the_order_of_each) {
    std::mt19937 random(1);
    const auto draw = [&](std::size_t below) { return static_cast<std::uint32_t>(random() % below); };
    for (int round = 0; round < 200; ++round) {
        const std::size_t keys = 1 + draw(50);
        std::vector<std::pair<std::uint32_t, std::uint32_t>> things;
        for (std::size_t i = draw(300); i > 0; --i) things.emplace_back(draw(keys), draw(1000));
        auto twin = things;
        const auto key_of = [](const auto& thing) { return thing.first; };
        std::ranges::stable_sort(twin, {}, key_of);
        group_by_key(things, keys, key_of);
        EXPECT_EQ(things, twin);
    }
}

}  // namespace
}  // namespace weft
