// Builds a Program. Classes are filled one after another; within a class, ops may be added in any order of lanes, and
// each lane runs its ops in the order added.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/program/program.hpp"

namespace weft {

class ProgramBuilder {
  public:
    explicit ProgramBuilder(std::vector<std::string> lanes);

    LabelId label(std::string_view text);  // interned
    std::uint32_t work(Seconds duration);  // interned
    PatternId pattern(Pattern pattern);    // interned by value
    CommunicationId communication(Communication what, std::span<const Leg> legs);
    ExchangeId exchange(CommunicationId communication, std::uint32_t parties);

    RankClassId begin_class(std::string name, RankId representative, std::uint32_t weight);
    // Adds an op to the class begun last. It waits for the op added before it on its lane and for `after`, which must
    // be ops of the same class, already added.
    OpId add(const Op& op, std::span<const OpId> after);
    OpId add(const Op& op, std::initializer_list<OpId> after) {
        return add(op, std::span(after.begin(), after.size()));
    }

    Program finish();  // checks that every exchange has as many ops as parties; throws LogicError otherwise

  private:
    Program program_;
    std::vector<std::pair<OpId, OpId>> edges_;  // (before, after)
    std::vector<std::int64_t> lane_tail_;       // last op per lane of the class begun last, -1 for none
    std::map<std::string, LabelId, std::less<>> label_ids_;
    std::map<double, std::uint32_t> work_ids_;
    std::map<std::size_t, std::vector<PatternId>> pattern_ids_;  // by hash, compared by value
};

}  // namespace weft
