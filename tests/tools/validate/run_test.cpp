// Running of validation sets: nothing in a prediction may depend on a row's name, place or company.
#include "tools/validate/run.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "sim/io/diagnostics.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

// Small jobs of several kinds, one collective among them.
ValidationSet small_set() {
    return read_validation_set(
        "small.json",
        R"({"title": "t", "source": "s", "job": {"machine": "dgx-a100", "model": "gpt3-125m", "recompute": "full",
            "framework": "megatron", "batch": {"sequence": 512, "global": 16}}})",
        "small.csv",
        "name,use,measured.step_s,measured.peak_bytes,layout.tensor,layout.pipeline,zero,measured.layer_forward_s\n"
        "a,predict,1,,1,1,,\n"
        "b,fit,2,1e9,2,1,1,\n"
        "c,predict,,3e9,2,2,,0.1\n"
        "d,predict,4,,4,1,,\n"
        "e,fit,,,,,,1\n");
}

std::vector<double> predictions(const ValidationSet& set, unsigned threads = 1) {
    std::vector<double> values;
    for (const ValidatedRow& row : run_validation({&set, 1}, {.threads = threads})) values.push_back(row.predicted);
    return values;
}

TEST(validation_run, gives_a_result_per_measurement_in_order) {
    const ValidationSet set = small_set();
    const std::vector<ValidatedRow> rows = run_validation({&set, 1});
    std::vector<std::string> told;
    for (const ValidatedRow& row : rows) told.push_back(set.rows[row.row].name + " " + row.quantity);
    EXPECT_EQ(told, (std::vector<std::string>{"a step_s", "b step_s", "b peak_bytes", "c peak_bytes",
                                              "c layer_forward_s", "d step_s", "e layer_forward_s"}));
    EXPECT_DOUBLE_EQ(rows[1].error(), rows[1].predicted / 2 - 1);
    EXPECT_NEAR(rows[1].measured_tflops * 2, rows[1].predicted_tflops * rows[1].predicted, 1e-9);
}

TEST(validation_run, is_the_same_on_any_number_of_threads) {
    const ValidationSet set = small_set();
    EXPECT_EQ(predictions(set, 1), predictions(set, 4));
}

TEST(validation_run, filters_by_name) {
    const ValidationSet set = small_set();
    EXPECT_EQ(run_validation({&set, 1}, {.filter = "b"}).size(), 2U);
    EXPECT_TRUE(run_validation({&set, 1}, {.filter = "nothing"}).empty());
}

// What was published ran, so no such job may be refused, but for some that keep less than a framework here does (the
// assumptions of their sets say so).
TEST(validation_run, finds_room_for_what_ran) {
    for (const std::string& name : validation_set_names()) {
        const ValidationSet set = load_validation_set(name);
        for (const ValidationCase& one : validation_cases({&set, 1})) {
            const ValidationRow& row = set.rows[one.row];
            const Study* const study = std::get_if<Study>(&one.subject);
            if (study == nullptr || name == "deepseek-v3" || name == "fine-tuning" ||
                of_one_layer(row.measured.front().quantity))
                continue;
            EXPECT_TRUE(make_plan(*study).fits()) << name << ": " << row.name;
        }
    }
}

// A layer measured by itself says nothing of whether 48 of them fit.
TEST(validation_run, asks_no_room_for_layers_measured_alone) {
    const ValidationSet set = load_validation_set("korthikanti-layers");
    for (const ValidatedRow& row : run_validation({&set, 1})) EXPECT_TRUE(row.fits) << set.rows[row.row].name;
}

// Names, order, measurements and marks do not matter.
RC_GTEST_PROP(validation_run, does_not_know_a_row, ()) {
    static const ValidationSet set = small_set();
    static const std::vector<ValidatedRow> before = run_validation({&set, 1});
    std::vector<std::size_t> order(set.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
    ValidationSet shuffled = set;
    for (std::size_t i = 0; i < order.size(); ++i) {
        shuffled.rows[i] = set.rows[order[i]];
        shuffled.rows[i].name = *rc::gen::string<std::string>() + std::to_string(i);
        shuffled.rows[i].use = *rc::gen::element(RowUse::fit, RowUse::predict);
        for (PublishedValue& one : shuffled.rows[i].measured) one.value *= *rc::gen::inRange(1, 9);
    }
    shuffled.name = *rc::gen::string<std::string>();
    const std::vector<ValidatedRow> after = run_validation({&shuffled, 1});
    RC_ASSERT(before.size() == after.size());
    for (const ValidatedRow& row : after) {
        const auto same = std::ranges::find_if(before, [&](const ValidatedRow& other) {
            return other.row == order[row.row] && other.quantity == row.quantity;
        });
        RC_ASSERT(same != before.end());
        RC_ASSERT(same->predicted == row.predicted);
    }
}

TEST(validation_run, tells_what_a_step_does_not_have) {
    const ValidationSet set = read_validation_set(
        "s.json",
        R"({"title": "t", "source": "s", "job": {"machine": "dgx-a100", "model": "gpt3-125m", "batch": {"global": 8}}})",
        "s.csv", "name,use,measured.communication.tensor_s,measured.step.tme_s\na,fit,1,\nb,fit,,1\n");
    try {
        run_validation({&set, 1});
        FAIL() << "expected a ConfigError";
    } catch (const ConfigError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("s.csv:2:1: error: the step has no call for communication.tensor_s"), what.npos) << what;
        EXPECT_NE(what.find("s.csv:3:1: error: a step has no metric step.tme_s"), what.npos) << what;
    }
}

Study layers(std::uint32_t layers, const std::string& recompute) {
    return read_study(Document::parse(
        "job.json", R"({"machine": "dgx-a100", "nodes": 1, "framework": "megatron", "recompute": ")" + recompute +
                        R"(", "layout": {"tensor": 8}, "batch": {"global": 2, "micro": 2},
            "model": {"hidden": 4096, "heads": 32, "vocabulary": 512, "layers": )" +
                        std::to_string(layers) + "}}"));
}
Seconds step_time(const Study& study) { return since_start(simulate_step(study, make_plan(study)).timeline.end); }

// On one rank's worth of pipeline, a layer more makes the step longer by its forward and backward pass and what its
// parameters add to the optimizer.
TEST(layer_time, is_what_one_more_layer_adds_to_a_step) {
    for (const char* recompute : {"none", "selective", "full"}) {
        const Study four = layers(4, recompute), five = layers(5, recompute);
        const Plan plan = make_plan(four), more = make_plan(five);
        const LayerTime layer = layer_time(simulate_step(four, plan));
        const Seconds optimizer = more.stages[0].optimizer - plan.stages[0].optimizer;
        const Seconds added = step_time(five) - step_time(four) - optimizer;
        EXPECT_NEAR((layer.forward + layer.backward).value, added.value, 1e-3 * added.value) << recompute;
    }
}

TEST(layer_time, has_full_recomputation_in_backward) {
    const auto of = [](const char* recompute) {
        const Study study = layers(4, recompute);
        return layer_time(simulate_step(study, make_plan(study)));
    };
    const LayerTime none = of("none"), full = of("full");
    EXPECT_DOUBLE_EQ(full.forward.value, none.forward.value);
    EXPECT_NEAR(full.backward.value, (none.backward + none.forward).value, 1e-6 * full.backward.value);
}

TEST(layer_time, of_a_single_layer_leaves_embedding_and_head_out) {
    const Study one = layers(1, "none"), four = layers(4, "none");
    const LayerTime single = layer_time(simulate_step(one, make_plan(one)));
    const LayerTime second = layer_time(simulate_step(four, make_plan(four)));
    EXPECT_NEAR(single.forward.value, second.forward.value, 1e-9);
    EXPECT_NEAR(single.backward.value, second.backward.value, 1e-9);
}

}  // namespace
}  // namespace weft
