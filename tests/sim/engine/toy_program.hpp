// Small programs for tests: three lanes, whole seconds, one line per op.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/program/program_builder.hpp"
#include "tests/sim/network/toy.hpp"

namespace weft::toy {

constexpr LaneId compute_lane{0}, tensor_lane{1}, data_lane{2};

class Script {
  public:
    ProgramBuilder builder{{"compute", "tensor", "data"}};

    void begin(std::string name, std::uint32_t weight = 1) {
        builder.begin_class(std::move(name), RankId{classes_++}, weight);
    }
    OpId work(Seconds duration, std::initializer_list<OpId> after = {}, LaneId lane = compute_lane) {
        return builder.add({OpKind::compute, lane, builder.label("work"), builder.work(duration)}, after);
    }
    OpId join(std::initializer_list<OpId> after, LaneId lane = compute_lane) {
        return builder.add({OpKind::join, lane, builder.label("join")}, after);
    }
    OpId take_part(ExchangeId exchange, std::initializer_list<OpId> after = {}, LaneId lane = tensor_lane,
                   std::uint32_t number = 0) {
        const auto subject = static_cast<std::uint32_t>(exchange);
        return builder.add({OpKind::exchange, lane, builder.label("exchange"), subject, number}, after);
    }
    // An exchange that runs `legs` once all `parties` are there.
    ExchangeId exchange(const std::vector<Leg>& legs, std::uint32_t parties = 1, LaneId dimension = tensor_lane) {
        return builder.exchange(builder.communication({.dimension = dimension}, legs), parties);
    }
    ExchangeId exchange(const Leg& leg, std::uint32_t parties = 1, LaneId dimension = tensor_lane) {
        return exchange(std::vector<Leg>{leg}, parties, dimension);
    }
    Program finish() { return builder.finish(); }

  private:
    std::uint32_t classes_ = 0;
};

}  // namespace weft::toy
