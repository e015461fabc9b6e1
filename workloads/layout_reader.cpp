#include "workloads/layout_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weft {
namespace {

std::vector<std::string> read_order(Field& layout) {
    const Layout defaults;
    if (!layout.has("order")) return defaults.order;
    const std::string text = layout.text("order");
    std::vector<std::string> order;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        std::string axis = text.substr(start, comma - start);
        std::erase(axis, ' ');
        order.push_back(axis);
        start = comma + 1;
    }
    // An order that does not mention context has it next to tensor.
    if (std::ranges::find(order, "context") == order.end()) {
        const auto tensor = std::ranges::find(order, "tensor");
        if (tensor != order.end()) order.insert(tensor + 1, "context");
    }
    std::vector<std::string> sorted = order, expected = defaults.order;
    std::ranges::sort(sorted);
    std::ranges::sort(expected);
    if (sorted != expected) {
        layout.error(
            "order",
            fmt::format(
                "expected tensor, data, pipeline and perhaps context in some order, innermost first, got \"{}\"",
                text));
        return defaults.order;
    }
    return order;
}

// Far beyond any machine, and small enough that no product of three sizes overflows.
constexpr std::uint32_t longest_axis = 1U << 20;

std::uint32_t read_axis(Field& layout, std::string_view key) {
    const std::uint32_t size = layout.count(key, 1);
    if (size <= longest_axis) return size;
    layout.error(key, fmt::format("expected at most {} ranks, got {}", longest_axis, size));
    return 1;
}

}  // namespace

ReadLayout read_layout(Field& root) {
    ReadLayout read;
    if (!root.has("layout")) return read;
    Field field = root.object("layout");
    read.layout.tensor = read_axis(field, "tensor");
    read.layout.context = read_axis(field, "context");
    read.layout.pipeline = read_axis(field, "pipeline");
    read.layout.virtual_stages = read_axis(field, "virtual_stages");
    read.layout.expert = read_axis(field, "expert");
    read.expert_tensor_given = field.has("expert_tensor");
    read.layout.expert_tensor = read.expert_tensor_given ? read_axis(field, "expert_tensor") : read.layout.tensor;
    read.data_given = field.has("data");
    read.layout.data = read_axis(field, "data");
    read.layout.order = read_order(field);
    const std::string split = field.choice("split", {"framework", "even", "ends"}, "framework");
    read.layout.split = split == "even" ? StageSplit::even : split == "ends" ? StageSplit::ends : StageSplit::framework;
    field.done();
    return read;
}

}  // namespace weft
