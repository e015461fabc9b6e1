// Which rank class an op belongs to, at hand while time runs: of every so many ops the class of the first is known, and
// the right one is there or a little further on. That much stays in a cache, which a table of all ops does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/program/program.hpp"

namespace weft {

class ClassOfOp {
  public:
    explicit ClassOfOp(const Program& program) {
        ends_.reserve(program.classes.size());
        near_.reserve(program.ops.size() / stride + 1);
        for (const RankClass& rank_class : program.classes) {
            const RankClassId id = ends_.push_back(rank_class.end_op());
            while (near_.size() * stride < rank_class.end_op()) near_.push_back(id);
        }
    }

    RankClassId operator[](OpId op) const {
        RankClassId id = near_[index(op) / stride];
        while (ends_[id] <= index(op)) id = next(id);
        return id;
    }

  private:
    static constexpr std::size_t stride = 64;

    Table<RankClassId, std::uint32_t> ends_;  // the op past the last one of each class
    std::vector<RankClassId> near_;           // classes of ops 0, `stride`, ...
};

}  // namespace weft
