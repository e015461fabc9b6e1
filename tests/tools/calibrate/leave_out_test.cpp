// Sets left out of the fits: measurements are made up from a device with other constants.
#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

constexpr const char* one_row = "name,use,measured.step_s,layout.tensor\nlarge,fit,1,8\n";

// One step of eight A100, whose gemm plateau is fitted to it, measured with a plateau of `plateau`.
ValidationSet measured_with(const std::string& name, double plateau, const char* table = one_row,
                            const char* fits = "a100-80.gemm_plateau") {
    const std::string json = fmt::format(
        R"({{"title": "t", "source": "s", "fits": ["{}"], "job": {{"machine": "dgx-a100", "framework": "megatron",
            "batch": {{"sequence": 2048, "global": 8, "micro": 8}},
            "model": {{"layers": 4, "hidden": 8192, "heads": 64, "vocabulary": 51200}}}}}})",
        fits);
    ValidationSet set = read_validation_set(name + ".json", json, name + ".csv", table);
    Device device = load_device("a100-80");
    device.gemm.plateau = plateau;
    const std::vector<ValidatedRow> rows = run_validation({&set, 1}, {.devices = {device}});
    for (const ValidatedRow& row : rows) set.rows[row.row].measured.front().value = row.predicted;
    return set;
}

TEST(leave_out, fits_a_constant_to_the_other_sets) {
    const std::vector<ValidationSet> sets{measured_with("near", 0.7), measured_with("far", 0.5)};
    const LeftOut result = leave_out(sets[0], sets, 1);
    ASSERT_EQ(result.constants.size(), 1U);
    EXPECT_EQ(result.constants[0].rows, 1U);
    EXPECT_EQ(result.constants[0].use, RowUse::fit);
    EXPECT_NEAR(result.constants[0].refitted, 0.5, 1e-4);
    EXPECT_GT(result.refitted.fit.bias, 0.2) << "with the plateau of the other set steps are longer";
    EXPECT_LT(result.shipped.fit.bias, 0) << "the shipped plateau is above 0.7";
}

TEST(leave_out, falls_back_on_predicted_rows) {
    const std::vector<ValidationSet> sets{measured_with("near", 0.7),
                                          measured_with("far", 0.6, "name,use,measured.step_s\nother,predict,1\n")};
    const LeftOut result = leave_out(sets[0], sets, 1);
    EXPECT_EQ(result.constants[0].use, RowUse::predict);
    EXPECT_NEAR(result.constants[0].refitted, 0.6, 1e-4);
}

TEST(leave_out, keeps_what_no_other_set_tells) {
    const std::vector<ValidationSet> sets{measured_with("only", 0.7)};
    const LeftOut result = leave_out(sets[0], sets, 1);
    EXPECT_EQ(result.constants[0].rows, 0U);
    EXPECT_EQ(result.constants[0].refitted, result.constants[0].shipped);
    EXPECT_EQ(result.refitted.fit.mean, result.shipped.fit.mean);
}

TEST(leave_out, names_a_constant_that_a_device_does_not_have) {
    const ValidationSet set = measured_with("odd", 0.7, one_row, "a100-80.gemm_platau");
    try {
        leave_out(set, {}, 1);
        FAIL() << "expected a ConfigError";
    } catch (const ConfigError& error) {
        EXPECT_THAT(error.what(),
                    testing::HasSubstr("a100-80 has no constant \"gemm_platau\", did you mean \"gemm_pl"));
    }
}

TEST(leave_out, shipped_sets_name_constants_that_devices_have) {
    for (const std::string& name : validation_set_names()) {
        const ValidationSet set = load_validation_set(name);
        for (const std::string& each : set.fits) {
            const std::size_t dot = each.find('.');
            const std::vector<DeviceConstant> known = device_constants(load_device(each.substr(0, dot)));
            EXPECT_EQ(std::ranges::count(known, each.substr(dot + 1), &DeviceConstant::name), 1)
                << name << ": " << each;
        }
    }
}

}  // namespace
}  // namespace weft
