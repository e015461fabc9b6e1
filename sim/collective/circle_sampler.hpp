// Takes links of circles for a FabricSample: of those that carry the same in a circle, one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/collective/fabric_sample.hpp"

namespace weft {

class CircleSampler {
  public:
    // `weights`: how many circles each of those in the sample stands for.
    CircleSampler(FabricSample& sample, std::vector<std::uint32_t> weights);

    // What messages of this kind load on the circles of the sample.
    void add(const RowSurvey& survey, const TreeMove& move, std::uint64_t kind);
    void take();

  private:
    // From a way on, links carry `more`.
    struct Change {
        std::uint32_t circle = 0;
        std::uint64_t way = 0;
        HashSum more{};
    };
    void add_arc(std::uint32_t circle, std::uint64_t way, std::uint64_t length, HashSum load);
    void take_all(std::uint32_t circle, std::uint32_t weight);
    // `changes`: of the circle, by way.
    void take_some(std::uint32_t circle, std::uint32_t weight, std::span<const Change> changes);

    FabricSample& sample_;
    std::vector<std::uint32_t> weights_;  // by number in the sample
    std::vector<Change> changes_;
};

}  // namespace weft
