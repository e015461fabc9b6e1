// A recorded run of two rank classes that is small enough to read.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/program/program_builder.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"

namespace weft::testing_support {

inline constexpr LaneId compute_lane{0}, send_lane{1}, receive_lane{2};
inline constexpr Instant at(std::int64_t femtoseconds) { return {femtoseconds}; }
inline constexpr Instant at_us(std::int64_t microseconds) { return {microseconds * 1'000'000'000}; }

// Two classes: the first computes and sends, the second waits for it and computes.
struct Recorded {
    Program program;
    Timeline timeline;
    Topology topology = toy_crossbar(2, 1, {1e9}, {});
};

inline Recorded two_stages() {
    ProgramBuilder builder({"compute", "send", "receive"});
    const PatternId pattern = builder.pattern({.loads = {{LinkId(0), 1.0}, {LinkId(3), 1.0}}});
    const std::vector<Leg> legs{{pattern, {}, {1000.0}}};
    const CommunicationId message = builder.communication(
        {.op = Collective::point_to_point, .dimension = send_lane, .group_size = 2, .message = {1000.0}}, legs);
    const auto exchange = static_cast<std::uint32_t>(index(builder.exchange(message, 2)));
    builder.begin_class("stage \"0\"", RankId(0), 4);
    const OpId forward =
        builder.add({OpKind::compute, compute_lane, builder.label("forward"), builder.work({3e-6}), 7, 2}, {});
    builder.add({OpKind::exchange, send_lane, builder.label("send activation"), exchange, 7, 0}, {forward});
    builder.begin_class("stage 1", RankId(1), 1);
    const OpId received =
        builder.add({OpKind::exchange, receive_lane, builder.label("receive activation"), exchange, 7, 0}, {});
    const OpId joined = builder.add({OpKind::join, compute_lane, builder.label("joined"), 0, 0, 0}, {received});
    builder.add({OpKind::compute, compute_lane, builder.label("forward"), builder.work({3e-6}), 7, 2}, {joined});
    Recorded run{.program = builder.finish(), .timeline = {}};
    run.timeline.spans.push_back({at_us(0), at_us(0), at_us(3)});
    run.timeline.spans.push_back({at_us(3), at_us(3), at_us(4)});
    run.timeline.spans.push_back({at_us(0), at_us(3), at_us(4)});
    run.timeline.spans.push_back({at_us(4), at_us(4), at_us(4)});
    run.timeline.spans.push_back({at_us(4), at_us(4), at_us(7)});
    run.timeline.end = at_us(7);
    run.timeline.samples = {{at_us(0), LinkClassId{0}, 0.0F}, {at_us(3), LinkClassId{0}, 0.5F}};
    return run;
}

}  // namespace weft::testing_support
