// Joint passes against closed forms: what the all-to-alls of experts expose, written out from the order in which
// Megatron-core and DualPipe interleave a forward and a backward layer, and from nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "tests/refusal.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/parallelism/experts.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

std::string number(const char* key, std::uint32_t value) { return std::string(key) + "=" + std::to_string(value); }

Settings with(Settings base, const Settings& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
}

struct Shape {
    std::uint32_t pipeline = 1, ranks = 8, micro_batches = 4, layers = 4;
    std::string schedule = "1f1b";
};

Settings settings(const Shape& shape) {
    Settings all{"machine=dgx-h100",
                 "precision=bf16",
                 "megatron.version=core-0.14",
                 "experts.overlap=passes",
                 "schedule=" + shape.schedule,
                 "layout.tensor=1",
                 number("layout.pipeline", shape.pipeline),
                 number("layout.data", shape.ranks),
                 number("layout.expert", shape.ranks),
                 number("model.layers", shape.layers),
                 number("batch.global", shape.ranks * shape.micro_batches),
                 R"(model.experts={"count": 16, "top_k": 4, "ffn_hidden": 512, "shared": 1})"};
    if (shape.schedule == "interleaved") all.emplace_back("layout.virtual_stages=2");
    return all;
}

Study study_of(const Settings& own) {
    Study study = test::small_study(own);
    study.device.interference = 1.0;
    return study;
}

Simulation run(const Study& study, NetworkKind network = NetworkKind::ideal) {
    return simulate_step(study, make_plan(study), {.network = network});
}

double end_of(const Simulation& run) { return since_start(run.timeline.end).value; }

// --- what was simulated ---

bool is_backward(std::string_view label) {
    return label.starts_with("backward") || label.starts_with("recompute") || label.ends_with("gradient");
}

struct PairRun {
    double begin = 1e30, end = 0, computed = 0;
    double exposed() const { return end - begin - computed; }
};

// The computations of a slot.
void add(PairRun& cell, const Simulation& run, RankClassId id, const Slot& slot) {
    const Program& program = run.step.program;
    const RankClass& ranks = program.classes[id];
    const Chunk& chunk = run.plan.stages[run.step.stage[id]].chunks[slot.chunk];
    const std::uint32_t end = chunk.first_layer + chunk.layers + (chunk.has_head() ? 1 : 0);
    for (std::uint32_t i = ranks.first_op; i < ranks.first_op + ranks.ops; ++i) {
        const Op& op = program.ops[OpId{i}];
        const std::string& label = program.labels[index(op.label)];
        if (op.kind != OpKind::compute || op.index != slot.micro_batch || label == "optimizer") continue;
        if (op.part < chunk.first_layer || op.part >= end) continue;
        if (is_backward(label) != (slot.kind != SlotKind::forward)) continue;
        const Span& span = run.timeline.spans[OpId{i}];
        const double from = since_start(span.begin).value, to = since_start(span.end).value;
        cell.begin = std::min(cell.begin, from);
        cell.end = std::max(cell.end, to);
        cell.computed += to - from;
    }
}

// The shortest of the exchanges with a label: no lane or rank was waited for.
double shortest(const Simulation& run, std::string_view label) {
    double time = 1e30;
    for (const RankClass& ranks : run.step.program.classes) {
        for (std::uint32_t i = ranks.first_op; i < ranks.first_op + ranks.ops; ++i) {
            if (run.step.program.labels[index(run.step.program.ops[OpId{i}].label)] != label) continue;
            const Span& span = run.timeline.spans[OpId{i}];
            time = std::min(time, since_start(span.end).value - since_start(span.begin).value);
        }
    }
    return time;
}

// --- what the order says ---

// Computation of one layer between its exchanges. `routed`: up to where ranks agree on counts of tokens.
struct LayerTimes {
    bool expert = false;
    double routed = 0, permuted = 0, forward = 0, rest = 0;
    double rest_backward = 0, experts_backward = 0, ahead_backward = 0;  // inputs' gradients, or all
    double experts_weights = 0, ahead_weights = 0;                       // what is put off
};

LayerTimes layer_times(const Plan& plan, std::uint32_t layer) {
    const LayerKind kind = layer_kind(plan.job.model, layer);
    const bool delays = delays_weight_gradients(plan.job) == Setting::on;
    LayerTimes times{.expert = has_experts(kind)};
    for (const PieceCost& piece : plan.costs.layer(kind).pieces) {
        const double forward = piece.forward.value, weights = piece.weight_backward.value,
                     inputs = piece.input_backward.value;
        switch (piece.piece) {
            case Piece::unpermute:
            case Piece::residual:
                times.rest += forward;
                times.rest_backward += inputs + weights;
                break;
            case Piece::experts:
            case Piece::shared_up:
            case Piece::shared_down:
            case Piece::mlp_up:
            case Piece::mlp_down:
                times.forward += forward;
                times.experts_backward += inputs + (delays ? 0 : weights);
                times.experts_weights += delays ? weights : 0;
                break;
            default:
                (piece.piece == Piece::permute ? times.permuted : times.routed) += forward;
                times.ahead_backward += inputs + (delays ? 0 : weights);
                times.ahead_weights += delays ? weights : 0;
                const bool again = piece.piece == Piece::core && plan.job.recompute == Recompute::selective;
                if (again) times.ahead_backward += forward;
        }
    }
    return times;
}

// `along`: of what dispatch and its gradient send beside the tokens, their probabilities.
struct ExchangeTimes {
    double tokens = 0, counts = 0, along = 0;
};

double longer(double exchange, double computation) { return std::max(exchange - computation, 0.0); }

// As many layers of both, weights' gradients not put off: four windows for each pair.
double windows(const std::vector<LayerTimes>& ahead, const std::vector<LayerTimes>& behind, ExchangeTimes exchange) {
    double exposed = 0;
    const std::size_t n = ahead.size();
    for (std::size_t i = 0; i < n; ++i) {
        const LayerTimes &f = ahead[i], &b = behind[i];
        const double there = f.expert ? exchange.tokens : 0, gradient = b.expert ? exchange.tokens : 0;
        const double counts = f.expert ? exchange.counts : 0, before = i > 0 ? ahead[i - 1].rest : 0;
        const double next = i + 1 < n ? behind[i + 1].rest_backward : 0;
        exposed += longer(gradient, before + f.routed + (f.expert ? 0 : f.permuted)) + counts;
        exposed += longer(there + (f.expert ? exchange.along : 0), b.experts_backward) +
                   longer(gradient + (b.expert ? exchange.along : 0), f.forward);
        exposed += longer(there, b.ahead_backward + next);
    }
    return exposed;
}

// Any layers, step by step on two clocks.
class TwoClocks {
  public:
    explicit TwoClocks(ExchangeTimes exchange) : exchange_(exchange) {}

    void pair(const LayerTimes* f, const LayerTimes* b) {
        double there = 0, gradient = 0;
        if (b != nullptr) {
            compute(b->rest_backward);
            gradient = send(*b);
            compute(std::exchange(owed_, 0));
        }
        if (f != nullptr) {
            finish();
            compute(f->routed);
            if (f->expert && exchange_.counts > 0) now_ = lane_ = std::max(now_, lane_) + exchange_.counts;
            compute(f->permuted);
            there = send(*f, exchange_.along);
        }
        if (b != nullptr) {
            now_ = std::max(now_, gradient);
            compute(b->experts_backward);
            gradient = send(*b, exchange_.along);
            compute(b->experts_weights);
        }
        if (f != nullptr) {
            now_ = std::max(now_, there);
            compute(f->forward);
            back_ = send(*f);
            rest_ = f->rest;
        }
        if (b == nullptr) return;
        now_ = std::max(now_, gradient);
        compute(b->ahead_backward);
        owed_ = b->ahead_weights;
    }
    double exposed() {
        compute(std::exchange(owed_, 0));
        finish();
        return now_ - computed_;
    }

  private:
    void compute(double time) {
        now_ += time;
        computed_ += time;
    }
    double send(const LayerTimes& layer, double along = 0) {
        if (!layer.expert) return 0;
        return lane_ = std::max(lane_, now_) + exchange_.tokens + along;
    }
    void finish() {
        now_ = std::max(now_, std::exchange(back_, 0));
        compute(std::exchange(rest_, 0));
    }

    ExchangeTimes exchange_;
    double now_ = 0, lane_ = 0, computed_ = 0, back_ = 0, rest_ = 0, owed_ = 0;
};

double on_two_clocks(const std::vector<LayerTimes>& ahead, const std::vector<LayerTimes>& behind,
                     ExchangeTimes exchange) {
    TwoClocks clocks(exchange);
    const auto layer = [](const std::vector<LayerTimes>& layers, std::size_t i) {
        return i < layers.size() ? &layers[i] : nullptr;
    };
    for (std::size_t i = 0; i < std::max(ahead.size(), behind.size()); ++i) {
        clocks.pair(layer(ahead, i), layer(behind, i));
    }
    return clocks.exposed();
}

// Every joint pass of every stage.
struct Compared {
    std::uint32_t cells = 0, hidden = 0;  // hidden: with nothing exposed but the counts of tokens
};

Compared compare(const Study& study) {
    const Simulation simulated = run(study);
    const Plan& plan = simulated.plan;
    const ExchangeTimes exchange{shortest(simulated, "all-to-all dispatch"),
                                 shortest(simulated, "all-gather expert counts"),
                                 shortest(simulated, "all-to-all probabilities")};
    const bool delays = delays_weight_gradients(plan.job) == Setting::on;
    Compared compared;
    for (std::uint32_t c = 0; c < simulated.step.program.classes.size(); ++c) {
        const RankClassId id{c};
        const Stage& stage = plan.stages[simulated.step.stage[id]];
        const auto layers = [&](const Slot& slot) {
            const Chunk& chunk = stage.chunks[slot.chunk];
            std::vector<LayerTimes> times;
            for (std::uint32_t i = 0; i < chunk.layers; ++i) times.push_back(layer_times(plan, chunk.first_layer + i));
            if (slot.kind != SlotKind::forward) std::ranges::reverse(times);
            return times;
        };
        for (std::size_t i = 0; i < stage.slots.size(); ++i) {
            if (stage.slots[i].runs != Slot::Runs::with_next) continue;
            PairRun cell;
            add(cell, simulated, id, stage.slots[i]);
            add(cell, simulated, id, stage.slots[i + 1]);
            const std::vector<LayerTimes> ahead = layers(stage.slots[i]), behind = layers(stage.slots[i + 1]);
            const double expected = on_two_clocks(ahead, behind, exchange), tolerance = 1e-9 + 1e-6 * cell.end;
            EXPECT_NEAR(cell.exposed(), expected, tolerance) << "slot " << i;
            if (!delays && ahead.size() == behind.size()) {
                EXPECT_NEAR(cell.exposed(), windows(ahead, behind, exchange), tolerance) << "slot " << i;
            }
            ++compared.cells;
            compared.hidden += expected <= exchange.counts * double(ahead.size()) + 1e-9 ? 1 : 0;
        }
    }
    return compared;
}

class Random {
  public:
    explicit Random(std::uint32_t seed) : engine_(seed) {}
    template <class Value>
    Value one_of(std::initializer_list<Value> values) {
        std::uniform_int_distribution<std::size_t> place(0, values.size() - 1);
        return values.begin()[place(engine_)];
    }

  private:
    std::mt19937 engine_;
};

Settings random_shape(Random& random) {
    Shape shape{.schedule = random.one_of<std::string>({"1f1b", "interleaved", "dualpipe"})};
    if (shape.schedule != "1f1b") shape.pipeline = random.one_of({2U, 4U});
    shape.ranks = random.one_of({2U, 4U, 8U, 16U});
    shape.micro_batches = random.one_of({2U, 3U}) * 2 * shape.pipeline;
    const std::uint32_t parts = shape.schedule == "interleaved" ? 2 * shape.pipeline : shape.pipeline;
    shape.layers = parts * random.one_of({1U, 2U, 3U});
    Settings own = with(settings(shape),
                        {number("model.hidden", random.one_of({512U, 1024U, 2048U})),
                         number("batch.sequence", random.one_of({512U, 2048U, 4096U})),
                         number("model.experts.top_k", random.one_of({1U, 2U, 8U})),
                         number("model.experts.ffn_hidden", random.one_of({128U, 1024U, 4096U})),
                         number("model.experts.shared", random.one_of({0U, 1U})),
                         number("model.experts.first_dense", std::min(random.one_of({0U, 1U, 3U}), shape.layers - 1)),
                         "recompute=" + random.one_of<std::string>({"none", "selective"})});
    if (random.one_of({false, true})) {
        own.push_back("experts.delay_weight_gradients=" + random.one_of<std::string>({"true", "false"}));
    }
    return own;
}

TEST(joint_passes, expose_what_the_order_of_exchanges_and_computations_leaves) {
    Random random(26);
    Compared all;
    for (int i = 0; i < 200; ++i) {
        const Settings own = random_shape(random);
        const Compared compared = compare(study_of(own));
        ASSERT_GT(compared.cells, 0U);
        all.cells += compared.cells;
        all.hidden += compared.hidden;
        ASSERT_FALSE(HasFailure()) << std::accumulate(own.begin(), own.end(), std::string{},
                                                      [](const auto& a, const auto& b) { return a + " " + b; });
    }
    // Shapes on both sides.
    EXPECT_GT(all.hidden, all.cells / 10);
    EXPECT_LT(all.hidden, all.cells * 9 / 10);
}

// --- without a network ---

double computing(const Study& study) { return make_report(run(study, NetworkKind::free)).metric("step.compute_s"); }

TEST(joint_passes, compute_the_same_and_take_no_longer_where_communication_is_free) {
    for (const Shape& shape : {Shape{}, Shape{.pipeline = 2, .schedule = "dualpipe"},
                               Shape{.pipeline = 2, .layers = 8, .schedule = "interleaved"}}) {
        for (const char* delay : {"true", "false"}) {
            const Study joint = study_of(
                with(settings(shape), {std::string("experts.delay_weight_gradients=") + delay, "recompute=selective"}));
            const Study in_turn = study_of(with(settings(shape), {"experts.overlap=none", "recompute=selective"}));
            EXPECT_NEAR(computing(joint) / computing(in_turn), 1, 1e-9) << shape.schedule;
            if (shape.pipeline > 1) continue;  // forwards leave later: another bubble
            EXPECT_NEAR(end_of(run(joint, NetworkKind::free)) / end_of(run(in_turn, NetworkKind::free)), 1, 1e-9);
        }
    }
}

// --- all else ---

TEST(joint_passes, are_faster_where_tokens_cross_the_network) {
    for (const Shape& shape :
         {Shape{.ranks = 16}, Shape{.pipeline = 4, .ranks = 16, .micro_batches = 16, .schedule = "dualpipe"},
          Shape{.pipeline = 2, .ranks = 16, .micro_batches = 16, .layers = 8, .schedule = "interleaved"}}) {
        const Study joint = study_of(settings(shape));
        const Study in_turn = study_of(with(settings(shape), {"experts.overlap=none"}));
        EXPECT_LT(end_of(run(joint)), end_of(run(in_turn))) << shape.schedule;
    }
}

TEST(joint_passes, are_what_dualpipe_is_for_and_by_default_puts_weights_off) {
    Settings own = settings({.pipeline = 2, .schedule = "dualpipe"});
    std::erase_if(own, [](const std::string& each) { return each.starts_with("experts.overlap"); });
    const Job dualpipe = study_of(own).job,
              interleaved = study_of(with(own, {"schedule=interleaved", "layout.virtual_stages=2"})).job;
    EXPECT_EQ(expert_overlap(dualpipe), ExpertOverlap::passes);
    EXPECT_EQ(delays_weight_gradients(dualpipe), Setting::on);
    EXPECT_EQ(expert_overlap(interleaved), ExpertOverlap::none);
    EXPECT_EQ(delays_weight_gradients(interleaved), Setting::off);
    EXPECT_EQ(expert_overlap(study_of(with(own, {"layout.expert=1"})).job), ExpertOverlap::none);
}

TEST(joint_passes, run_with_recomputation_dense_layers_and_everything_beside) {
    const Settings more{"recompute=full", "model.experts.first_dense=3", "zero=1"};
    const Settings own = with(settings({.pipeline = 2, .layers = 6, .schedule = "dualpipe"}), more);
    const Study joint = study_of(own), in_turn = study_of(with(own, {"experts.overlap=none"}));
    EXPECT_NEAR(computing(joint) / computing(in_turn), 1, 1e-9);
    const Settings hooks{"zero=1", "overlap_gradients=true", "megatron.overlap_parameters=true"};
    for (const Shape& shape : {Shape{}, Shape{.pipeline = 2, .layers = 8, .schedule = "interleaved"}}) {
        Study study = study_of(with(settings(shape), hooks));
        study.device.host_launch = {27e-6};
        const Report report = make_report(run(study, NetworkKind::flow));
        EXPECT_GT(report.metric("step.time_s"), 0) << shape.schedule;
    }
}

// --- shared experts ---

TEST(shared_experts, run_beside_the_exchange_of_tokens) {
    const Settings base = with(settings({.ranks = 16}), {"model.experts.shared_ffn_hidden=4096"});
    const Study beside = study_of(with(base, {"experts.overlap=shared_experts"})),
                behind = study_of(with(base, {"experts.overlap=none"}));
    EXPECT_NEAR(computing(beside) / computing(behind), 1, 1e-9);
    EXPECT_NEAR(end_of(run(beside, NetworkKind::free)) / end_of(run(behind, NetworkKind::free)), 1, 1e-9);
    // Each map hides one exchange of each pass of each layer.
    const Simulation simulated = run(behind);
    const double exchange = shortest(simulated, "all-to-all dispatch");
    double hidden = 0;
    for (const PieceCost& piece : simulated.plan.costs.layer(LayerKind::expert).pieces) {
        if (piece.piece != Piece::shared_up && piece.piece != Piece::shared_down) continue;
        hidden += std::min(exchange, piece.forward.value);
        hidden += std::min(exchange, (piece.input_backward + piece.weight_backward).value);
    }
    const Job& job = beside.job;
    EXPECT_NEAR(end_of(simulated) - end_of(run(beside)), hidden * job.model.layers * job.micro_batches(), 1e-8);
}

// --- what cannot be ---

std::string refusal(const Settings& own) {
    return test::refusal_of([&] { test::small_study(own); });
}

TEST(expert_overlap, is_refused_where_no_framework_has_it) {
    const Shape pipelined{.pipeline = 2};
    const Settings base = settings({});
    const auto expect = [](const Settings& own, const char* why) {
        EXPECT_NE(refusal(own).find(why), std::string::npos) << refusal(own);
    };
    expect(settings(pipelined), "no forward of 1f1b runs as one with a backward on 2 stages");
    expect(with(settings(pipelined), {"schedule=zb-h1"}), "no forward of zb-h1");
    expect(with(base, {"megatron.version=core-0.13"}), "Megatron core-0.13 has no joint passes");
    expect(with(base, {"recompute=full"}), "without full recomputation");
    expect(with(base, {"precision=fp32"}), "not in fp32");
    expect(with(base, {"layout.expert=1"}), "no rank sends tokens");
    expect(with(base, {"experts.overlap=shared_experts", "model.experts.shared=0"}), "no shared experts");
    expect(with(base, {"experts.overlap=shared_experts", "megatron.version=core-0.8"}),
           "no --moe-shared-expert-overlap");
    expect(with(base, {"experts.overlap=none", "experts.delay_weight_gradients=true"}),
           "set experts.overlap to passes");
    EXPECT_EQ(refusal(base), "");
}

}  // namespace
}  // namespace weft
