#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "sim/base/enumerators.hpp"
#include "sim/io/document.hpp"
#include "tests/tools/program.hpp"

namespace weft {
namespace {

using testing::HasSubstr;

// A table of every kind of kernel as `device` would run them.
std::string table_of(const Device& device) {
    std::string csv = "kind,name,precision,m,n,k,count,keys,head_size,heads,batch,bytes,seconds,alone_seconds\n";
    const auto add = [&](const KernelMeasurement& row, const std::string& sizes, double alone = 0) {
        const double value = predicted_value(device, row) * (alone > 0 ? alone : 1);
        csv += fmt::format("{},planted,bf16,{},{:.17g},{}\n", enumerator_name(row.kind), sizes, value,
                           alone > 0 ? fmt::format("{:.17g}", alone) : "");
    };
    for (const int k : {256, 1024, 4096, 16384}) {
        for (const int m : {512, 2048, 8192}) {
            add({.kind = MeasuredKernel::gemm, .kernel = measured_gemm(m, 4096, k, 1, Precision::bf16)},
                fmt::format("{},4096,{},,,,,,", m, k));
        }
    }
    for (const MeasuredKernel kind : {MeasuredKernel::attention, MeasuredKernel::attention_backward}) {
        for (const int keys : {1024, 4096, 16384}) {
            for (const int head : {64, 128}) {
                add({.kind = kind, .kernel = measured_attention(kind, keys, head, 16, Precision::bf16)},
                    fmt::format(",,,,{},{},16,,", keys, head));
            }
        }
    }
    for (const double bytes : {1e8, 1e9}) {
        add({.kind = MeasuredKernel::memory, .kernel = measured_pass({bytes})}, fmt::format(",,,,,,,,{}", bytes));
    }
    add({.kind = MeasuredKernel::launch, .kernel = measured_pass({8})}, ",,,,,,,,8");
    if (device.host_launch > Seconds{}) add({.kind = MeasuredKernel::host, .kernel = {}}, ",,,,,,,,");
    add({.kind = MeasuredKernel::contended, .kernel = {}}, ",,,,,,,,", 1e-3);
    return csv;
}

std::vector<DeviceConstant> by_default(const Device& device) {
    std::vector<DeviceConstant> constants = device_constants(device);
    std::erase_if(constants, [](const DeviceConstant& c) { return c.is_asked_for; });
    return constants;
}

Device planted_device() {
    Device device = load_device("a100-80");
    const auto share = [](int least, int most) { return *rc::gen::inRange(least, most) * 0.01; };
    device.gemm.plateau = share(60, 95);
    device.gemm.k_half = *rc::gen::inRange(16, 300);
    device.memory_efficiency = share(50, 95);
    device.attention = {share(40, 80), share(30, 70), *rc::gen::inRange(20, 400) * 1.0, *rc::gen::inRange(4, 40) * 1.0,
                        *rc::gen::inRange(20, 1500) * 1.0};
    device.kernel_launch = 1_us * *rc::gen::inRange(1, 8);
    device.host_launch = 1_us * *rc::gen::inRange(2, 10);
    device.interference = 1.0 + share(1, 60);
    return device;
}

RC_GTEST_PROP(device_fit, finds_planted_constants, ()) {
    const Device planted = planted_device(), start = load_device("a100-80");
    const auto constants = by_default(start);
    const auto source = table_source("table.csv", read_device_table("table.csv", table_of(planted), {}));
    const DeviceFit fit = fit_device(start, constants, {source}, 1);
    RC_ASSERT(fit.fit.rms_after < 1e-6);
    for (std::size_t i = 0; i < constants.size(); ++i) {
        const double truth = constants[i].value(planted);
        RC_LOG() << constants[i].name << ": " << fit.fit.values[i] << " for " << truth << '\n';
        RC_ASSERT(std::abs(fit.fit.values[i] - truth) <= 1e-3 * std::abs(truth));
    }
}

// Products of a loop that take the host 30 us each to enqueue: the device's own time is not what the short ones took.
TEST(device_fit, sees_through_the_pace_of_the_host) {
    Device planted = load_device("a100-80");
    planted.gemm.plateau = 0.7, planted.gemm.k_half = 120;
    std::vector<DeviceTableRow> rows;
    for (const double n : {256, 512, 768, 1024, 4096, 16384}) {
        for (const double k : {256, 1024, 4096}) {
            rows.push_back(
                {.measured = {.kind = MeasuredKernel::gemm, .kernel = measured_gemm(1024, n, k, 1, Precision::bf16)}});
            double& seconds = rows.back().measured.value;
            seconds = std::max(predicted_value(planted, rows.back().measured), 30e-6);
        }
    }
    const Device start = load_device("a100-80");
    auto constants = by_default(start);
    std::erase_if(constants, [](const DeviceConstant& c) { return !c.name.starts_with("gemm_"); });
    const DeviceFit fit = fit_device(start, constants, {table_source("t.csv", rows)}, 1);
    EXPECT_LT(fit.fit.rms_after, 1e-3);
    EXPECT_NEAR(fit.fit.values[0], 0.7, 1e-3);
    EXPECT_NEAR(fit.fit.values[1], 120, 1);
}

TEST(device_fit, leaves_alone_what_no_row_tells_of) {
    Device planted = load_device("a100-80");
    planted.gemm.plateau = 0.7;
    const std::vector<DeviceTableRow> rows{
        {.measured = {.kind = MeasuredKernel::gemm, .kernel = measured_gemm(8192, 8192, 8192, 1, Precision::bf16)}}};
    DeviceFitSource source = table_source("t.csv", rows);
    source.rows[0].measured = source.predict(planted)[0];
    const Device start = load_device("a100-80");
    const DeviceFit fit = fit_device(start, by_default(start), {source}, 2);
    for (std::size_t i = 0; i < fit.constants.size(); ++i) {
        const bool is_plateau = fit.constants[i].name == "gemm_plateau";
        EXPECT_EQ(fit.fit.values[i] != fit.before[i], is_plateau) << fit.constants[i].name;
    }
    EXPECT_NEAR(fit.fit.values[0], 0.7, 1e-6);
    EXPECT_EQ(fit.constants[4].name, "gemm_k_half");
    EXPECT_EQ(fit.fit.determinations[4], Determination::not_told_apart) << "one k cannot tell it from the plateau";
}

TEST(device_fit, held_rows_are_judged_and_not_fitted) {
    const Device device = load_device("h100");
    std::string csv = table_of(device);
    csv += "memory,elsewhere,bf16,,,,,,,,,1e9,1.0,\n";  // a second for a gigabyte
    const auto source = table_source("t.csv", read_device_table("t.csv", csv, {{"name", "elsewhere"}}));
    const DeviceFit fit = fit_device(device, by_default(device), {source}, 1);
    for (std::size_t i = 0; i < fit.constants.size(); ++i) {
        EXPECT_NEAR(fit.fit.values[i], fit.before[i], 1e-6 * std::abs(fit.before[i]) + 1e-12) << fit.constants[i].name;
    }
    const std::vector<KindErrors> errors = errors_by_kind(fit);
    EXPECT_EQ(errors.back().is_held, true);
    EXPECT_EQ(errors.back().rows, 1U);
    EXPECT_GT(errors.back().after, 1.0);
}

TEST(device_fit, noisy_rows_count_less) {
    const std::string head = "kind,bytes,seconds,spread\n";
    const auto rows = read_device_table("t.csv", head + "memory,1e9,1e-3,\nmemory,1e9,1e-3,0.05\n", {});
    EXPECT_DOUBLE_EQ(rows[0].weight, 1.0);
    EXPECT_DOUBLE_EQ(rows[1].weight, 0.5);
}

TEST(device_table, knows_kernels_by_the_names_of_the_program_that_measures) {
    const std::string head = "kind,name,keys,head_size,heads,bytes,seconds\n";
    const auto rows =
        read_device_table("t.csv",
                          head +
                              "attention,causal,2048,128,16,,1\nattention,causal cudnn,2048,128,16,,1\n"
                              "memory,column sums,,,,1e9,1\nmemory,add rows,,,,1e9,1\nmemory,x,,,,1e9,1\n",
                          {});
    EXPECT_EQ(rows[0].measured.kernel.core, AttentionCore::flash);
    EXPECT_EQ(rows[1].measured.kernel.core, AttentionCore::cudnn);
    EXPECT_EQ(rows[2].measured.kernel.pass, PassClass::reduction);
    EXPECT_EQ(rows[3].measured.kernel.pass, PassClass::gathered);
    EXPECT_EQ(rows[4].measured.kernel.pass, PassClass::fused);
}

std::string errors_of(const std::string& csv) {
    try {
        read_device_table("t.csv", csv, {});
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(device_table, tells_every_mistake_with_its_line) {
    const std::string errors = errors_of(
        "# measured somewhere\n"
        "kind,precision,m,n,k,bytes,seconds,spread\n"
        "gem,bf16,1,1,1,,1,\n"
        "gemm,bf17,64,64,64,,1,\n"
        "gemm,bf16,64,1.5,64,,-1,\n"
        "memory,,,,,nan,1,x\n"
        "attention,bf16,,,,,1,\n"
        "contended,bf16,,,,,1,\n");
    EXPECT_THAT(errors, HasSubstr("t.csv:3:1: error: kind: expected gemm, "));
    EXPECT_THAT(errors, HasSubstr("got \"gem\", did you mean \"gemm\""));
    EXPECT_THAT(errors, HasSubstr("t.csv:4:1: error: precision: expected fp32, fp16, bf16 or fp8, got \"bf17\""));
    EXPECT_THAT(errors, HasSubstr("t.csv:5:1: error: n: expected a whole number of at least 1, got \"1.5\""));
    EXPECT_THAT(errors, HasSubstr("t.csv:5:1: error: seconds: expected a number above 0, got \"-1\""));
    EXPECT_THAT(errors, HasSubstr("t.csv:6:1: error: bytes: expected a number above 0, got \"nan\""));
    EXPECT_THAT(errors, HasSubstr("t.csv:6:1: error: spread: expected a share from 0 to 1e6, got \"x\""));
    EXPECT_THAT(errors, HasSubstr("t.csv:7:1: error: no column keys: expected a whole number of at least 1"));
    EXPECT_THAT(errors, HasSubstr("t.csv:8:1: error: no column alone_seconds: expected a number above 0"));
    EXPECT_THAT(errors_of("kind,bytes\nmemory,1\n"), HasSubstr("no column is called \"seconds\""));
    EXPECT_THAT(errors_of("# nothing\n"), HasSubstr("no line of column names"));
    EXPECT_THAT(errors_of("kind,bytes,seconds,spread\nmemory,1,1,1e308\n"),
                HasSubstr("spread: expected a share from 0"));
    const std::string contended = "kind,precision,m,n,k,seconds,alone_seconds\ncontended,bf16,64,64,64,1,";
    EXPECT_THAT(errors_of(contended + "5e-324\n"), HasSubstr("alone_seconds: expected a time that can be compared"));
}

// Cut, repeat and garble a good table: rows or errors, nothing else.
RC_GTEST_PROP(device_table, survives_anything, ()) {
    std::string csv = table_of(load_device("h100"));
    for (int i = 0; i < 5; ++i) {
        const auto at = *rc::gen::inRange<std::size_t>(0, csv.size());
        if (*rc::gen::arbitrary<bool>()) {
            csv[at] = static_cast<char>(*rc::gen::inRange(1, 256));
        } else {
            csv.insert(at, *rc::gen::element<std::string>("\"", ",", "\n", "1e999", "-", "\r", "#", "gemm"));
        }
    }
    try {
        for (const DeviceTableRow& row : read_device_table("t.csv", csv, {})) RC_ASSERT(row.measured.value > 0.0);
    } catch (const ConfigError& error) {
        RC_ASSERT(!error.diagnostics().empty() && error.diagnostics().size() <= 20U);
    }
}

// What is written is a device file with the new values; a second fit of it finds nothing to change.
TEST(device_copy, can_be_read_and_has_the_new_values) {
    Device planted = load_device("a100-80");
    planted.memory_efficiency = 0.8125;
    planted.kernel_launch = 2.5_us;
    const Device start = load_device("a100-80");
    const auto source = table_source("table.csv", read_device_table("table.csv", table_of(planted), {}));
    const DeviceFit fit = fit_device(start, by_default(start), {source}, 1);
    const std::string text = device_with("a100-80", fit, provenance(fit));
    Document document = Document::parse("copy.json", text);
    const Device copy = read_device(document.root(), "copy");
    document.check();
    EXPECT_NEAR(copy.memory_efficiency, 0.8125, 1e-5);
    EXPECT_NEAR(copy.kernel_launch.value, 2.5e-6, 1e-9);
    EXPECT_EQ(copy.peak_half, start.peak_half);
    EXPECT_THAT(text, HasSubstr("least squares in the logarithm of "));
    EXPECT_THAT(text, HasSubstr("(table.csv), rms error 0.0 %"));
}

TEST(calibrate_device, runs_as_a_user_would) {
    const test::TemporaryFolder folder;
    Device planted = load_device("h100");
    planted.memory_efficiency = 0.7;
    std::ofstream(folder.path() / "kernels.csv") << table_of(planted);
    const std::string table = (folder.path() / "kernels.csv").string(), out = (folder.path() / "my.json").string();
    const test::Ran text = test::run_weft("calibrate " + table + " --device h100 --out " + out);
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("memory_efficiency"));
    const test::Ran json = test::run_weft("calibrate " + table + " --device " + out + " --json");
    EXPECT_EQ(json.exit_code, 0) << json.err;
    EXPECT_THAT(json.out, HasSubstr("\"rms_log_error_before\""));
    EXPECT_NEAR(load_device(out).memory_efficiency, 0.7, 1e-4);

    EXPECT_EQ(test::run_weft("calibrate " + table).exit_code, 2);
    EXPECT_EQ(test::run_weft("calibrate --device h100").exit_code, 2);
    EXPECT_EQ(test::run_weft("calibrate " + table + " --device h100 --machine dgx-h100").exit_code, 2);
    const test::Ran unknown = test::run_weft("calibrate " + table + " --device h100 --fit gemm_plato");
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("did you mean \"gemm_plateau\""));
    EXPECT_EQ(test::run_weft("calibrate nowhere.csv --device h100").exit_code, 3);
}

TEST(measure_kernels, lists_its_cases_without_an_accelerator) {
    const std::string script = "python3 " WEFT_SOURCE_DIR "/tools/measure/kernels.py";
    EXPECT_EQ(std::system((script + " --self-test >/dev/null 2>&1").c_str()), 0);
    EXPECT_EQ(std::system((script + " --self-test --quick --precision fp16,bf16,fp8 >/dev/null 2>&1").c_str()), 0);
    EXPECT_NE(std::system((script + " --precision fp12 >/dev/null 2>&1").c_str()), 0);
}

}  // namespace
}  // namespace weft
