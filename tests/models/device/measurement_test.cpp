#include "models/device/measurement.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/csv.hpp"

namespace weft {
namespace {

struct Case {
    std::string device;
    Measurement measurement;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.device << ": " << c.measurement.name; }

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::string& device : device_names()) {
        for (const Measurement& measurement : device_measurements(device)) all.push_back({device, measurement});
    }
    return all;
}

double residual(const Device& device, const Measurement& measurement) {
    return std::log(predict(device, measurement) / measurement.kernels());
}

class device_measurement : public ::testing::TestWithParam<Case> {
  protected:
    Device device = load_device(GetParam().device);
    const Measurement& row = GetParam().measurement;
};

TEST_P(device_measurement, is_predicted_as_its_file_says) {
    const double written = row.predicted.value;
    EXPECT_NEAR(predict(device, row).value, written, 0.006 * written);  // three digits
}

TEST_P(device_measurement, is_predicted_within_its_tolerance) {
    // The least certain check is the H100, whose constants are scaled from the A100's fit.
    const double tolerance = row.use == Use::fit ? 0.10 : 0.20;
    EXPECT_LT(std::abs(residual(device, row)), tolerance) << row.name;
}

TEST_P(device_measurement, says_where_it_is_from_and_leaves_time_for_kernels) {
    EXPECT_GT(row.source.size(), 20U);
    EXPECT_GT(row.kernels(), 0_s);
}

INSTANTIATE_TEST_SUITE_P(devices, device_measurement, ::testing::ValuesIn(cases()), [](const auto& instance) {
    return testing::test_name(instance.param.device + " " + instance.param.measurement.name);
});

class fitted_device : public ::testing::TestWithParam<std::string> {};

double sum_of_squares(const Device& device, const std::vector<Measurement>& rows) {
    double sum = 0;
    for (const Measurement& row : rows) {
        if (row.use == Use::fit) sum += residual(device, row) * residual(device, row);
    }
    return sum;
}

// A least-squares fit is undone by any step that would improve it.
TEST_P(fitted_device, has_the_plateau_that_fits_best) {
    const std::vector<Measurement> rows = device_measurements(GetParam());
    const Device fitted = load_device(GetParam());
    const double best = sum_of_squares(fitted, rows);
    for (const double factor : {0.98, 1.02}) {
        Device other = fitted;
        other.gemm.plateau *= factor;
        EXPECT_GT(sum_of_squares(other, rows), best) << factor;
    }
}

INSTANTIATE_TEST_SUITE_P(devices, fitted_device, ::testing::Values("a100-80", "mi250x-gcd"),
                         [](const auto& instance) { return testing::test_name(instance.param); });

// The rows of the A100's fit are those of the published table.
TEST(a100_80, is_fitted_to_the_published_layer_times) {
    const auto table = testing::read_table("korthikanti2022_layer_times.csv");
    const auto published = [&](const std::string& experiment, const std::string& column) {
        for (const testing::Row& row : table) {
            if (row.text("experiment") == experiment) return row.number(column) / 1e3;
        }
        throw std::out_of_range(experiment);
    };
    const std::vector<Measurement> rows = device_measurements("a100-80");
    ASSERT_GE(rows.size(), 4U);
    EXPECT_DOUBLE_EQ(rows[0].measured.value, published("baseline no recompute", "fwd_ms"));
    EXPECT_DOUBLE_EQ(rows[1].measured.value, published("baseline no recompute", "bwd_ms"));
    EXPECT_NEAR(rows[2].measured.value,
                published("selective recompute", "bwd_ms") - published("baseline no recompute", "bwd_ms"), 1e-12);
    EXPECT_DOUBLE_EQ(rows[3].measured.value, published("sequence parallel", "fwd_ms"));
}

}  // namespace
}  // namespace weft
