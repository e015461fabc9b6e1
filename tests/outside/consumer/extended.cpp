// A program that adds to weft from outside, on the installed component `extension`: a machine whose network and
// collective are of its own folder, and a network model.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <stdexcept>

#include "sim/collective/algorithm.hpp"
#include "sim/engine/run.hpp"
#include "sim/network/flow_slots.hpp"
#include "workloads/report/simulation.hpp"

namespace {

using namespace weft;

// One bus for the whole machine: a flow after the other.
class Bus {
  public:
    Bus(const Topology& topology, const Table<PatternId, Pattern>& patterns, BytesPerSecond bandwidth)
        : crossed_(topology, patterns), moved_(patterns.size()), bandwidth_(bandwidth) {}

    FlowId start(Instant now, PatternId pattern, Bytes bytes) {
        const FlowId id = flows_.add({pattern, bytes});
        waiting_.push_back(id);
        if (waiting_.size() == 1) next_ = now + bytes / bandwidth_;
        return id;
    }
    Instant next_change() const { return next_; }
    void advance(Instant now, std::vector<FlowId>& done) {
        const auto first = static_cast<std::ptrdiff_t>(done.size());
        while (next_ == now) {
            const Flow& flow = flows_[waiting_.front()];
            moved_[flow.pattern] += flow.bytes;
            sum_ += flow.bytes;
            done.push_back(waiting_.front());
            flows_.remove(waiting_.front());
            waiting_.pop_front();
            next_ = waiting_.empty() ? Instant::never() : now + flows_[waiting_.front()].bytes / bandwidth_;
        }
        std::sort(done.begin() + first, done.end());
    }
    Bytes moved(PatternId pattern) const { return moved_[pattern]; }
    const LinkPatterns& crossed() const { return crossed_; }
    std::uint64_t solves() const { return 0; }

    Bytes sum() const { return sum_; }

  private:
    struct Flow {
        PatternId pattern{};
        Bytes bytes{};
    };
    LinkPatterns crossed_;
    Table<PatternId, Bytes> moved_;
    FlowSlots<Flow> flows_;
    std::deque<FlowId> waiting_;  // the first is under way
    Instant next_ = Instant::never();
    BytesPerSecond bandwidth_{};
    Bytes sum_{};
};

static_assert(NetworkModel<Bus>);

void must(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
}

void check() {
    must(find_algorithm(Collective::all_gather, "direct") != nullptr, "the collective is not there");
    const Study study = read_study(Document::parse("job.json", R"({
        "machine": "hypercube", "model": "gpt-neox-125m", "framework": "megatron", "schedule": "eager-1f1b",
        "layout": {"tensor": 4, "pipeline": 2, "data": 2}, "batch": {"sequence": 1024, "micro": 1, "global": 16}})"));
    const Simulation step = simulate_step(study, make_plan(study));
    must(step.topology().links() > 0 && step.timeline.end > Instant{}, "no step on the machine");
    const auto on_bus = [&](double bandwidth) {
        Bus bus(step.topology(), step.step.program.patterns, BytesPerSecond{bandwidth});
        const Instant end = run(step.step.program, step.topology(), bus).end;
        must(Instant{} + bus.sum() / BytesPerSecond{bandwidth} <= end, "a bus faster than it is");
        return end;
    };
    must(on_bus(1e18) < step.timeline.end, "a network that is never busy does not shorten the step");
    must(on_bus(1e8) > step.timeline.end, "one bus for all does not lengthen the step");
}

}  // namespace

int main() {
    try {
        check();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
