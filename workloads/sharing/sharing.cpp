#include "workloads/sharing/sharing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "sim/engine/breakdown.hpp"
#include "sim/engine/joined_program.hpp"
#include "sim/network/link_traffic.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

using Nodes = std::vector<std::uint32_t>;

// What there is, and some runs of a step, which are written out.
StepSize with_runs(StepSize sum, const StepSize& one, std::uint32_t runs) {
    sum.ranks += one.ranks;
    sum.classes += one.classes;
    sum.ops += one.unfolded_ops * runs;
    sum.parties += one.unfolded_parties * runs;
    sum.exchanges += one.unfolded_exchanges * runs;
    sum.meetings += one.meetings * runs;
    sum.routed += one.loads();
    return sum;
}

PlacedStep summary(const Program& program, const Timeline& timeline) {
    const Breakdown ranks = mean(program, break_down(program, timeline, lanes::compute, {}));
    return {since_start(timeline.end), ranks.busy, ranks.exposed()};
}

// The machine's node that each node of a job is.
Nodes nodes_of(const Job& job) {
    if (!job.fabric.placement.empty()) return job.fabric.placement;
    return numbers_below<std::uint32_t>(job.nodes);
}

// Where the first nodes of a topology lie in one of as many nodes that has so many others before them. Links of nodes
// come before those of ports, with faults or without.
LinkMove move_behind(std::uint32_t others, const Topology& topology) {
    const std::uint32_t all = topology.ranks / topology.ranks_per_node;
    const std::uint32_t ports = 2 * topology.vertices_of(NodeKind::nic);  // a link in each direction
    const std::uint32_t inside = ports > 0 ? static_cast<std::uint32_t>(topology.wiring->port(0)) : topology.links();
    LinkMove move(static_cast<std::int32_t>(others * topology.ranks_per_node));
    move.add_stretch(LinkId{0}, std::int64_t{others} * (inside / all));
    move.add_stretch(LinkId{inside}, std::int64_t{others} * (ports / all));
    move.add_stretch(LinkId{inside + ports}, 0);
    return move;
}

// Where what it names is `place(node)`, of nodes that are counted anew.
template <class Place>
LinkFault moved(LinkFault fault, std::uint32_t ranks_per_node, Place place) {
    const auto moved_rank = [&](RankId rank) {
        const auto number = static_cast<std::uint32_t>(rank);
        return RankId(place(number / ranks_per_node) * ranks_per_node + number % ranks_per_node);
    };
    if (auto* const cable = std::get_if<NicCable>(&fault.where)) {
        cable->node = place(cable->node);
    } else {
        auto& route = std::get<RouteCables>(fault.where);
        route.from = moved_rank(route.from);
        route.to = moved_rank(route.to);
    }
    return fault;
}

// The nodes of several jobs, one job behind another, and the faults of links there.
struct JointNodes {
    Nodes nodes{};                    // of the machine
    std::vector<LinkFault> faults{};  // whose nodes and ranks count in this order

    // Behind the others; `own`: the machine's node that each of the job's is.
    void add(const Job& job, std::span<const std::uint32_t> own) {
        const auto others = static_cast<std::uint32_t>(nodes.size());
        nodes.insert(nodes.end(), own.begin(), own.end());
        for (const LinkFault& fault : job.fabric.link_faults) {
            faults.push_back(moved(fault, job.ranks_per_node, [&](std::uint32_t node) { return others + node; }));
        }
    }

    // With those from `first` on, so many, before all others.
    JointNodes beginning_with(std::uint32_t first, std::uint32_t count, std::uint32_t ranks_per_node) const {
        JointNodes turned = *this;
        const auto begin = turned.nodes.begin() + first;
        std::rotate(turned.nodes.begin(), begin, begin + count);
        for (LinkFault& fault : turned.faults) {
            fault = moved(fault, ranks_per_node, [&](std::uint32_t node) {
                return node < first ? node + count : node < first + count ? node - first : node;
            });
        }
        return turned;
    }
};

// The step of one job laid on the nodes of several: every rank by itself, and every link. The job has those from some
// first one on, as many as it asks for.
struct LaidStep {
    Program program;  // without routines, on a topology where the job's nodes come first
    LinkMove move;    // from there to topology_on(study, all)
    StepSize size;
};

// As the fabric of the job is but for its placement and faults. Throws RangeError as Machine::topology() does.
Topology topology_on(const Study& study, const JointNodes& all) {
    Fabric fabric = study.job.fabric;
    fabric.placement = all.nodes;
    fabric.link_faults = all.faults;
    return study.machine.topology(static_cast<std::uint32_t>(all.nodes.size()), fabric);
}

LaidStep lay_step(const Study& study, const JointNodes& all, std::uint32_t first, const SizeListener& on_size) {
    const Plan plan = make_plan(study);
    check_calls(plan);
    PreparedTopology prepared(topology_on(study, all.beginning_with(first, study.job.nodes, study.job.ranks_per_node)));
    LaidStep laid{.program = {}, .move = move_behind(first, prepared.topology()), .size = {}};
    const auto hear = [&](const StepSize& size) { on_size(laid.size = size); };
    const StepOptions options{.folding = Folding::none, .on_size = hear, .merges_equal_links = false};
    laid.program = build_step(plan, prepared.costs(plan), options).program;
    if (!laid.program.routines.empty()) laid.program = unfold(laid.program);
    return laid;
}

// What links of topology_on(study, all) carry in a step.
Table<LinkId, Bytes> carried(const LaidStep& step, const Topology& topology) {
    const Program& program = step.program;
    Table<PatternId, Bytes> moved(program.patterns.size());
    for (const Exchange& exchange : program.exchanges) {
        const Communication& what = program.communications[exchange.communication];
        for (const Leg& leg : std::span(program.legs).subspan(what.first_leg, what.legs))
            moved[leg.pattern] += leg.bytes;
    }
    Table<LinkId, Bytes> carried(topology.links());
    for (PatternId id{}; id != moved.end_id(); id = next(id)) {
        for (const LinkLoad& each : program.patterns[id].loads) carried[step.move(each.link)] += moved[id] * each.load;
    }
    return carried;
}

class Sharer {
  public:
    Sharer(const std::vector<PlacedJob>& asked, const SharingOptions& options) : asked_(asked), options_(options) {}

    Sharing run() {
        lay();
        foresee_runs();
        do {
            simulate_together();
        } while (!has_enough());
        sharing_.jobs.resize(asked_.size());
        for (const Running& job : jobs_) sharing_.jobs[job.number] = report(job);
        sharing_.begin = since_start(begin_);
        sharing_.end = since_start(end_);
        sharing_.program = std::move(joined_.program);
        find_shared_links();
        return std::move(sharing_);
    }

  private:
    struct Running {
        std::size_t number;  // in the order given
        LaidStep step;
        PlacedStep alone{};
        std::uint32_t runs = 1;       // of the step, together with others
        std::vector<PartRun> done{};  // these
    };

    const PlacedJob& asked(const Running& job) const { return asked_[job.number]; }

    // In the order of nodes, so that the order given shows in no result.
    void lay() {
        auto order = numbers_below<std::size_t>(asked_.size());
        const auto nodes = [this](std::size_t number) { return nodes_of(asked_[number].study.job); };
        std::ranges::sort(order, {}, [&](std::size_t number) { return std::ranges::min(nodes(number)); });
        JointNodes all;
        for (const std::size_t number : order) {
            all.add(asked_[number].study.job, nodes(number));
            begin_ = std::max(begin_, Instant{} + asked_[number].start);
        }
        sharing_.topology = topology_on(asked_.front().study, all);
        std::uint32_t first = 0;
        for (const std::size_t number : order) {
            const Study& study = asked_[number].study;
            const auto on_size = [this](const StepSize& size) { tell_size(with_runs({}, size, 1)); };
            jobs_.push_back({number, lay_step(study, all, first, on_size)});
            first += study.job.nodes;
        }
        for (Running& job : jobs_) job.alone = alone(job);
    }

    // With what has been laid.
    void tell_size(StepSize size) const {
        for (const Running& job : jobs_) size = with_runs(size, job.step.size, 1);
        if (options_.on_size) options_.on_size(size);
    }

    PlacedStep alone(const Running& job) const {
        const Program& step = job.step.program;
        JoinedProgram joined = join({{.program = &step, .move = job.step.move}});
        merge_equal_links(sharing_.topology, joined.program.patterns);
        const Timeline timeline = simulate(joined.program, sharing_.topology, NetworkKind::flow);
        return summary(step, run_of(joined, timeline, 0, 0).timeline);
    }

    // As many as would do if nobody were slowed down.
    void foresee_runs() {
        Seconds longest;
        for (const Running& job : jobs_) longest = std::max(longest, job.alone.time);
        const Seconds end = since_start(begin_) + longest * options_.steps;
        for (Running& job : jobs_) job.runs = runs_in(end - asked(job).start, job);
    }
    static std::uint32_t runs_in(Seconds time, const Running& job) {
        return static_cast<std::uint32_t>(std::max(1.0, std::ceil(time / job.alone.time)));
    }

    void simulate_together() {
        StepSize size;
        std::vector<ProgramPart> parts;
        for (const Running& job : jobs_) {
            size = with_runs(size, job.step.size, job.runs);
            parts.push_back({asked(job).name + ": ", &job.step.program, job.step.move, asked(job).start, job.runs});
        }
        tell_size(size);
        joined_ = join(std::move(parts));
        merge_equal_links(sharing_.topology, joined_.program.patterns);
        sharing_.timeline = simulate(joined_.program, sharing_.topology, NetworkKind::flow, options_.recording);
        for (std::size_t place = 0; place < jobs_.size(); ++place) {
            Running& job = jobs_[place];
            job.done.clear();
            for (std::uint32_t run = 0; run < job.runs; ++run) {
                job.done.push_back(run_of(joined_, sharing_.timeline, place, run));
            }
        }
    }

    // Whether every job has done its steps in the window, and goes on until that ends; else has more of it run.
    bool has_enough() {
        bool enough = true;
        const auto run_more = [&enough](Running& job, std::uint32_t runs) {
            job.runs += runs;
            enough = false;
        };
        end_ = {};
        for (Running& job : jobs_) {
            const auto first = std::ranges::lower_bound(job.done, begin_, {}, &PartRun::begin);
            const auto done = static_cast<std::uint32_t>(job.done.end() - first);
            if (done < options_.steps) {
                run_more(job, options_.steps - done);
            } else {
                end_ = std::max(end_, first[options_.steps - 1].end);
            }
        }
        for (Running& job : jobs_) {
            const Instant over = job.done.back().end;
            if (over < end_) run_more(job, runs_in(end_ - over, job));
        }
        return enough;
    }

    PlacedReport report(const Running& job) const {
        const Study& study = asked(job).study;
        PlacedReport report{.name = asked(job).name,
                            .nodes = nodes_of(study.job),
                            .ranks = study.job.layout.ranks(),
                            .start = asked(job).start,
                            .runs = job.runs,
                            .alone = job.alone,
                            .together = {}};
        const auto add = [&report](Seconds& mean, Seconds value) { mean += (value - mean) / report.steps; };
        for (const PartRun& run : job.done) {
            if (run.begin < begin_ || run.end > end_) continue;
            const PlacedStep one = summary(job.step.program, run.timeline);
            ++report.steps;
            add(report.together.time, one.time);
            add(report.together.compute, one.compute);
            add(report.together.exposed, one.exposed);
        }
        return report;
    }

    void find_shared_links() {
        std::vector<Table<LinkId, Bytes>> bytes(jobs_.size());  // in the order given
        for (const Running& job : jobs_) bytes[job.number] = carried(job.step, sharing_.topology);
        for (LinkId link{}; index(link) < sharing_.topology.links(); link = next(link)) {
            const auto uses_it = [link](const Table<LinkId, Bytes>& of_job) { return of_job[link] > Bytes{}; };
            if (std::ranges::count_if(bytes, uses_it) < 2) continue;
            SharedLink shared{.link = link, .bytes = {}};
            for (std::size_t i = 0; i < bytes.size(); ++i) {
                const BytesPerSecond pace = bytes[i][link] / sharing_.jobs[i].together.time;
                shared.bytes.push_back(bytes[i][link]);
                shared.busy += pace / sharing_.topology.link(link).bandwidth;
            }
            sharing_.links.push_back(std::move(shared));
        }
        std::ranges::stable_sort(sharing_.links, std::ranges::greater{}, &SharedLink::busy);
    }

    const std::vector<PlacedJob>& asked_;
    const SharingOptions& options_;
    std::vector<Running> jobs_;  // in the order of nodes
    Instant begin_, end_;        // of the window
    JoinedProgram joined_;
    Sharing sharing_;
};

}  // namespace

Sharing share(const std::vector<PlacedJob>& jobs, const SharingOptions& options) { return Sharer(jobs, options).run(); }

}  // namespace weft
