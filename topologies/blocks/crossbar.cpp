// A node whose accelerators all hang on one switch, such as a DGX with its NVSwitches: every accelerator spreads its
// links evenly over the switch chips, so that together they behave as one switch without inner bottleneck.
#include "topologies/blocks/block.hpp"

namespace weft::blocks {
namespace {

constexpr std::uint32_t most_accelerators = 1024;  // of a node: each has links of its own

NodePlan read_crossbar(Field block, const LinkClasses& classes) {
    block.text("source", "");
    NodePlan plan;
    plan.accelerators = block.count("accelerators");
    if (plan.accelerators > most_accelerators) {
        block.error("accelerators", "expected at most {}, got {}", most_accelerators, plan.accelerators);
        plan.accelerators = most_accelerators;
    }
    const std::uint32_t all = plan.accelerators, uses = block.has("uses") ? block.count("uses") : all;
    if (uses > all) block.error("uses", "expected at most the {} accelerators of a node, got {}", all, uses);
    plan.switches = 1;
    read_packages(block, plan);
    const LinkClassId link_class = classes.read(block, "link");
    read_nics(block, classes, plan);
    if (uses < all && uses % plan.accelerators_per_package == 0) plan.uses = uses;
    for (std::uint32_t i = 0; i < plan.accelerators; ++i) plan.connect(i, plan.switch_vertex(0), link_class);
    block.done();
    return plan;
}

}  // namespace

extern const BlockKind crossbar{.name = "crossbar", .read_node = read_crossbar};

}  // namespace weft::blocks
