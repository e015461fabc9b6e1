#include "sim/engine/run.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/network/flow_network.hpp"
#include "tests/sim/engine/arbitrary_program.hpp"

namespace weft {
namespace {

using toy::arbitrary_program;

bool close(Instant a, Instant b) {
    return std::abs((a - b).value) <= 1e-9 * std::max(since_start(a).value, since_start(b).value) + 1e-13;
}

bool close(const Timeline& a, const Timeline& b) {
    return std::equal(a.spans.begin(), a.spans.end(), b.spans.begin(), b.spans.end(), [](const Span& x, const Span& y) {
        return close(x.posted, y.posted) && close(x.begin, y.begin) && close(x.end, y.end);
    });
}

// Without contention every op takes a time of its own, and spans are longest paths: sweep until nothing moves.
Timeline longest_paths(const Program& program, const IdealNetwork& network) {
    Timeline timeline;
    timeline.spans = Table<OpId, Span>(program.ops.size());
    const ExchangeOps parties(program);
    for (std::size_t sweep = 0; sweep <= program.ops.size(); ++sweep) {
        for (OpId id{}; id != program.ops.end_id(); id = next(id)) {
            const Op& op = program.ops[id];
            Span& span = timeline.spans[id];
            span.begin = std::max(span.begin, span.posted);
            span.end = span.begin;
            if (op.kind == OpKind::compute) span.end = span.begin + program.work[op.subject];
            if (op.kind == OpKind::exchange) {
                const auto exchange = ExchangeId(op.subject);
                for (const auto [party, rank_class] : parties.of(exchange)) {
                    span.begin = std::max(span.begin, timeline.spans[party].posted);
                }
                span.end = span.begin;
                const Communication& what = program.communications[program.exchanges[exchange].communication];
                for (std::uint32_t i = what.first_leg; i < what.first_leg + what.legs; ++i) {
                    const Leg& leg = program.legs[i];
                    span.end = span.end + leg.latency + leg.bytes / network.rate(leg.pattern);
                }
            }
            for (const OpId after : program.successors_of(id)) {
                timeline.spans[after].posted = std::max(timeline.spans[after].posted, span.end);
            }
        }
    }
    return timeline;
}

RC_GTEST_PROP(run, spans_on_the_ideal_network_are_longest_paths, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    const Program program = arbitrary_program(system);
    const Topology topology = toy::fabric(system.bandwidths);
    IdealNetwork network(topology, program.patterns);
    RC_ASSERT(close(run(program, topology, network), longest_paths(program, network)));
}

// FlowNetwork without any of its shortcuts: all rates and all progress anew at every step, flow by flow, link by link.
class NaiveNetwork {
  public:
    NaiveNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns)
        : patterns_(patterns), crossed_(topology, patterns), moved_(patterns.size(), 0.0) {
        for (LinkId l{}; index(l) < topology.links(); l = next(l)) {
            bandwidths_.push_back(topology.link(l).bandwidth.value);
        }
    }
    FlowId start(Instant, PatternId pattern, Bytes bytes) {
        const FlowId id{started_++};
        flows_[id] = {pattern, bytes.value};
        return id;
    }
    Instant next_change() {
        std::vector<Pattern> active;
        for (const auto& [id, flow] : flows_) active.push_back(patterns_[flow.pattern]);
        rates_ = toy::naive_max_min(bandwidths_, active);
        Instant first = Instant::never();
        std::size_t i = 0;
        for (const auto& [id, flow] : flows_) first = std::min(first, clock_ + Seconds{flow.remaining / rates_[i++]});
        return first;
    }
    void advance(Instant now, std::vector<FlowId>& done) {
        std::size_t i = 0;
        for (auto& [id, flow] : flows_) {
            const double moved = rates_[i++] * (now - clock_).value;
            flow.remaining -= moved;
            moved_[flow.pattern] += moved;
            if (flow.remaining <= 1e-9) done.push_back(id);
        }
        for (const FlowId id : done) flows_.erase(id);
        clock_ = now;
    }
    Bytes moved(PatternId pattern) const { return {moved_[pattern]}; }
    const LinkPatterns& crossed() const { return crossed_; }
    std::uint64_t solves() const { return 0; }

  private:
    struct Flow {
        PatternId pattern;
        double remaining;
    };
    const Table<PatternId, Pattern>& patterns_;
    LinkPatterns crossed_;
    std::vector<double> bandwidths_, rates_;
    std::map<FlowId, Flow> flows_;
    std::uint32_t started_ = 0;
    Instant clock_;
    Table<PatternId, double> moved_;
};
static_assert(NetworkModel<NaiveNetwork> && !ForesightNetwork<NaiveNetwork>);

RC_GTEST_PROP(run, spans_on_the_flow_network_are_those_of_its_naive_twin, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    const Program program = arbitrary_program(system);
    const Topology topology = toy::fabric(system.bandwidths);
    FlowNetwork network(topology, program.patterns);
    NaiveNetwork twin(topology, program.patterns);
    RC_ASSERT(close(run(program, topology, network), run(program, topology, twin)));
}

RC_GTEST_PROP(run, a_second_run_is_the_same_to_the_bit, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    const Program program = arbitrary_program(system);
    const Topology topology = toy::fabric(system.bandwidths);
    for (const NetworkKind kind : {NetworkKind::flow, NetworkKind::ideal, NetworkKind::free}) {
        const Timeline a = simulate(program, topology, kind);
        const Timeline b = simulate(program, topology, kind, Recording::spans_and_links);
        RC_ASSERT(std::equal(a.spans.begin(), a.spans.end(), b.spans.begin(), [](const Span& x, const Span& y) {
            return x.posted == y.posted && x.begin == y.begin && x.end == y.end;
        }));
        RC_ASSERT(a.events == b.events && a.solves == b.solves);
        RC_ASSERT(a.utilization.rows() == b.utilization.rows());
    }
}

RC_GTEST_PROP(run, every_op_is_posted_before_it_begins_and_begins_before_it_ends, ()) {
    const toy::System system = toy::arbitrary_system(4, 4);
    const Program program = arbitrary_program(system);
    const Timeline timeline = simulate(program, toy::fabric(system.bandwidths), NetworkKind::flow);
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        const Span& span = timeline.spans[op];
        RC_ASSERT(Instant{} <= span.posted && span.posted <= span.begin && span.begin <= span.end);
        RC_ASSERT(span.end <= timeline.end);
        for (const OpId after : program.successors_of(op)) RC_ASSERT(span.end <= timeline.spans[after].posted);
    }
}

}  // namespace
}  // namespace weft
