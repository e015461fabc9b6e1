#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/device/device.hpp"
#include "sim/io/embedded.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

std::string shipped_text() {
    std::ifstream file(std::string(WEFT_SOURCE_DIR) + "/models/devices/mi250x-gcd.json");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string error(const std::string& assignment) {
    try {
        Document document = Document::parse("device.json", shipped_text());
        document.assign(assignment);
        read_device(document.root(), "device");
        document.check();
    } catch (const ConfigError& problem) {
        return problem.what();
    }
    return "no error";
}

TEST(read_device, keeps_the_data_sheet_and_the_fit_apart) {
    const Device device = load_device("mi250x-gcd");
    EXPECT_EQ(device.peak(Precision::fp16), 191.5_TFLOPps);
    EXPECT_EQ(device.peak(Precision::bf16), 191.5_TFLOPps);
    EXPECT_EQ(device.peak(Precision::fp32), 47.9_TFLOPps);
    EXPECT_EQ(device.memory, 64_GiB);
    EXPECT_EQ(device.memory_bandwidth, 1600_GBps);
    EXPECT_EQ(device.gemm.compute_units, 110.0);
    EXPECT_LT(device.memory_efficiency, 1.0);
}

TEST(read_device, refuses_what_cannot_be) {
    EXPECT_EQ(error("title=renamed"), "no error");
    EXPECT_THAT(error("specification.memory.value=1e10 GiB"), HasSubstr("memory.value: expected at most 8192 TiB"));
    EXPECT_THAT(error("fitted.gemm_plateau.value=1.2"), HasSubstr("fitted.gemm_plateau.value: expected a share"));
    EXPECT_THAT(error("fitted.memory_efficiency.value=0"), HasSubstr("expected a share above 0 and up to 1, got 0"));
    EXPECT_THAT(error("fitted.gemm_tiles.value=[]"), HasSubstr("expected at least one tile"));
    EXPECT_THAT(error("fitted.gemm_tiles.value[0].share=-1"), HasSubstr("share: expected a share"));
    EXPECT_THAT(error("fitted.plateau.value=0.5"), HasSubstr("fitted.plateau: unknown key"));
    EXPECT_THAT(error("fitted.interference.value=0.9"), HasSubstr("expected a factor of 1 or more, got 0.9"));
    EXPECT_THAT(error("fitted.attention_keys_half.value=-1"), HasSubstr("expected 0 or more, got -1"));
    EXPECT_THAT(error(R"(fitted.gemm_alignment.value=[{"multiple": 4, "share": 0.5}, {"multiple": 2, "share": 0.5}])"),
                HasSubstr("expected more than 4, the one before"));
}

TEST(read_device, takes_the_fused_curve_for_triton_where_nothing_else_is_known) {
    const Device die = load_device("mi250x-gcd"), a100 = load_device("a100-80");
    EXPECT_EQ(die.attention_triton.forward, die.attention.forward);
    EXPECT_LT(a100.attention_triton.backward, a100.attention.backward);
    EXPECT_THAT(error(R"(fitted.attention_triton={"value": 0, "source": "test"})"),
                HasSubstr("fitted.attention_triton.value: expected a share"));
}

TEST(read_device, asks_for_no_source) { EXPECT_EQ(error(R"(specification.memory={"value": "64 GiB"})"), "no error"); }

// A constant without a source is one that nobody can check.
TEST(shipped_devices, say_where_every_constant_is_from) {
    for (const embedded::File& file : embedded::devices()) {
        const nlohmann::json device = nlohmann::json::parse(file.text, nullptr, true, true);
        for (const char* part : {"specification", "fitted"}) {
            if (!device.contains(part)) continue;
            for (const auto& [key, constant] : device[part].items()) {
                EXPECT_NE(constant.value("source", ""), "") << file.path << " " << part << "." << key;
            }
        }
    }
}

TEST(read_device, takes_from_its_die_what_it_does_not_give) {
    Document document = Document::parse("own.json", R"({
        "title": "H100 with more memory", "die": "h100",
        "specification": {"memory": {"value": "141 GB", "source": "test"}},
        "fitted": {"sustained_clock": {"value": 0.9, "source": "test"}}
    })");
    const Device own = read_device(document.root(), "own"), die = load_device("h100");
    document.check();
    EXPECT_EQ(own.name, "own");
    EXPECT_EQ(own.die, "h100");
    EXPECT_EQ(own.memory.value, 141e9);
    EXPECT_EQ(own.sustained_clock, 0.9);
    EXPECT_EQ(own.memory_bandwidth, die.memory_bandwidth);
    EXPECT_EQ(own.gemm.plateau, die.gemm.plateau);
    EXPECT_EQ(own.gemm_eighth.plateau, die.gemm_eighth.plateau);
    EXPECT_EQ(own.attention_cudnn.forward, die.attention_cudnn.forward);
    EXPECT_EQ(own.host_launch, die.host_launch);
}

TEST(read_device, names_the_dies_that_there_are) { EXPECT_THAT(error("die=h10"), HasSubstr("\"h100\"")); }

TEST(load_device, suggests_the_nearest_names) {
    try {
        load_device("a100-8");
        FAIL() << "expected a ConfigError";
    } catch (const ConfigError& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("unknown device \"a100-8\""));
        EXPECT_THAT(problem.what(), HasSubstr("\"a100-80\""));
    }
}

TEST(device_names, are_sorted) { EXPECT_TRUE(std::ranges::is_sorted(device_names())); }

}  // namespace
}  // namespace weft
