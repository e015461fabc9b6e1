#include "tools/page/simulation_page.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

std::size_t times(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++n;
    return n;
}

DeviceRoofline device() {
    KernelClassUse products{.name = "MLP <products>", .flops = {8e12}, .bytes = {1e10}, .time = {0.1}};
    products.computing = products.time;
    products.peak = FlopsPerSecond{1e14};
    KernelClassUse passes{.name = "element-wise", .flops = {}, .bytes = {4e10}, .time = {0.05}};
    passes.moving = passes.time;
    return {.peak = {1e14},
            .sustained = {8e13},
            .memory = {1e12},
            .sustained_memory = {8e11},
            .kernels = {products, passes},
            .other = {}};
}

TEST(roofline_page, draws_a_dot_for_each_class_with_products) {
    const std::string svg = roofline_svg(device());
    EXPECT_EQ(times(svg, "<circle"), 1U);
    EXPECT_EQ(times(svg, "class=\"roof "), 2U);
    EXPECT_NE(svg.find("<title>MLP &lt;products&gt;: 100 ms, 800 FLOP/B, 80.0 TFLOP/s, bound by products</title>"),
              std::string::npos)
        << svg;
}

TEST(roofline_page, draws_nothing_without_products) {
    DeviceRoofline idle = device();
    idle.kernels.erase(idle.kernels.begin());
    EXPECT_EQ(roofline_svg(idle), "");
}

TEST(roofline_page, has_a_row_for_every_class_and_kind_of_call) {
    Rooflines found{.stage = 3, .device = device(), .fabric = {}};
    found.fabric.push_back({.dimension = "tensor",
                            .link = "nvlink",
                            .calls = 12,
                            .bytes = {1e9},
                            .time = {0.01},
                            .transfer = {0.008},
                            .endpoint = {},
                            .latency = {0.002},
                            .sharing = {},
                            .line = {0.005}});
    const std::string html = rooflines_part(found);
    for (const char* const text :
         {"MLP &lt;products&gt;", "element-wise", "nvlink", "50.0 %", "bandwidth", "stage 3"}) {
        EXPECT_NE(html.find(text), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace weft
