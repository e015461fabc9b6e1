#include "workloads/job/layout_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/job/job_synonyms.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

bool may_be_left_out(const std::string& axis) { return axis != "tensor" && axis != "data" && axis != "pipeline"; }

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
    // An axis that an order may leave out follows the one that it usually follows.
    for (std::size_t i = 1; i < defaults.order.size(); ++i) {
        const std::string& axis = defaults.order[i];
        const auto inner = std::ranges::find(order, defaults.order[i - 1]);
        const bool left_out = std::ranges::find(order, axis) == order.end();
        if (may_be_left_out(axis) && left_out && inner != order.end()) order.insert(inner + 1, axis);
    }
    std::vector<std::string> optional = defaults.order;
    std::erase_if(optional, std::not_fn(may_be_left_out));
    std::vector<std::string> sorted = order, expected = defaults.order;
    std::ranges::sort(sorted);
    std::ranges::sort(expected);
    if (sorted != expected) {
        layout.error(
            "order",
            fmt::format("expected tensor, data, pipeline and perhaps {} in some order, innermost first, got \"{}\"",
                        fmt::join(optional, " and "), text));
        return defaults.order;
    }
    return order;
}

// Of one axis, and of axes together: far beyond any machine, and no product of sizes that are read overflows.
constexpr std::uint32_t longest_axis = 1U << 20;
constexpr std::uint64_t most_ranks = std::uint64_t{1} << 31;

std::uint32_t read_axis(Field& layout, std::string_view key) {
    const std::uint32_t size = layout.count(key, 1);
    if (size <= longest_axis) return size;
    layout.error(key, fmt::format("expected at most {} ranks, got {}", longest_axis, size));
    return 1;
}

// Whether axes that multiply are no more than ranks can be; otherwise reported, and each is 1.
void check_product(Field& layout, const std::vector<std::pair<std::string_view, std::uint32_t*>>& axes) {
    std::uint64_t product = 1;
    std::string text;
    for (const auto& [key, size] : axes) {
        product = std::min(product * *size, most_ranks + 1);
        text += fmt::format("{}{} {}", text.empty() ? "" : " x ", key, *size);
    }
    if (product <= most_ranks) return;
    layout.error("", fmt::format("{} are more than {}", text, most_ranks));
    for (const auto& [key, size] : axes) *size = 1;
}

}  // namespace

std::vector<std::string> stage_split_names() { return {"framework", "even", "ends", "uniform", "parameters"}; }

void read_stage_split(Field& field, Layout& layout) {
    constexpr std::string_view key = "split";
    if (!field.has(key)) return;
    const std::vector<std::string> names = stage_split_names();
    if (field.is_text(key)) {
        const std::string text = field.text(key);
        const auto name = std::ranges::find(names, text);
        if (name != names.end()) {
            layout.split = StageSplit{static_cast<std::uint8_t>(name - names.begin())};
            return;
        }
        std::string why;
        layout.by_hand = parse_stage_layout(text, why);
        if (!why.empty()) {
            field.error(key, text.starts_with('E')
                                 ? why
                                 : fmt::format("expected one of {}, a layout as \"Et*3|t*4|L\", layers of each part in "
                                               "a list, or {{\"first\": n, \"last\": n}}, got \"{}\"",
                                               fmt::join(names, ", "), text));
        }
    } else if (field.is_object(key)) {
        Field counts = field.object(key);
        layout.by_hand.first = counts.has("first") ? counts.count("first") : 0;
        layout.by_hand.last = counts.has("last") ? counts.count("last") : 0;
        if (!counts.has("first") && !counts.has("last")) counts.error("first", "give first, last or both");
        counts.done();
    } else {
        for (Field& part : field.list(key)) layout.by_hand.layers.push_back(part.as_whole());
        if (layout.by_hand.layers.empty()) field.error(key, "expected the layers of each model part");
    }
    layout.split = StageSplit::by_hand;
}

ReadLayout read_layout(Field& root) {
    ReadLayout read;
    if (!root.has("layout")) return read;
    Field field = root.object("layout");
    for (const Scheme* scheme : parallelism::all()) {
        read.layout.size(scheme->axis) = read_axis(field, scheme->axis);
    }
    read.layout.virtual_stages = read_axis(field, "virtual_stages");
    read.expert_tensor_given = field.has("expert_tensor");
    read.layout.expert_tensor = read.expert_tensor_given ? read_axis(field, "expert_tensor") : read.layout.tensor;
    read.data_given = field.has("data");
    Layout& own = read.layout;
    std::vector<std::pair<std::string_view, std::uint32_t*>> axes;
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->ranks != Scheme::Ranks::shared) axes.emplace_back(scheme->axis, &own.size(scheme->axis));
    }
    check_product(field, axes);
    check_product(field, {{"pipeline", &own.pipeline}, {"virtual_stages", &own.virtual_stages}});
    check_product(field, {{"expert", &own.expert}, {"expert_tensor", &own.expert_tensor}});
    read.layout.order = read_order(field);
    read_stage_split(field, read.layout);
    field.done({{"", job_synonyms()}});
    return read;
}

}  // namespace weft
