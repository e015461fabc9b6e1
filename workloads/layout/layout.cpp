#include "workloads/layout/layout.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/texts.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

constexpr std::size_t longest = 1U << 20;  // characters of an unrolled layout, two orders beyond any published model

// The number behind a '*' at `star`, and where it ends; 0 and `star` if there is none.
struct Times {
    std::size_t count = 0, end = 0;
};
Times times_at(std::string_view text, std::size_t star) {
    if (star + 1 >= text.size() || text[star] != '*' || !is_digit(text[star + 1])) return {.count = 0, .end = star};
    Times times{.count = 0, .end = star + 1};
    for (; times.end < text.size() && is_digit(text[times.end]); ++times.end) {
        times.count = std::min(longest, times.count * 10 + static_cast<std::size_t>(text[times.end] - '0'));
    }
    return times;
}

void append(std::string& text, std::string_view what, std::size_t count) {
    for (; count > 0 && text.size() <= longest; --count) text += what;
}

// (...)*n; parentheses do not nest.
std::string unroll_groups(std::string_view text) {
    std::string unrolled;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t close = text[i] == '(' ? text.find(')', i) : std::string_view::npos;
        const Times times = close == std::string_view::npos || close == i + 1 ? Times{} : times_at(text, close + 1);
        if (times.end > close + 1 && close != std::string_view::npos) {
            append(unrolled, text.substr(i + 1, close - i - 1), times.count);
            i = times.end;
        } else {
            unrolled += text[i++];
        }
    }
    return unrolled;
}

std::string unroll_characters(std::string_view text) {
    std::string unrolled;
    for (std::size_t i = 0; i < text.size();) {
        const Times times = times_at(text, i + 1);
        const bool repeated = times.end > i + 1;
        append(unrolled, text.substr(i, 1), repeated ? times.count : 1);
        i = repeated ? times.end : i + 1;
    }
    return unrolled;
}

// What Megatron-core asserts of any layout, and that the embedding is on the first part and the loss on the last: it
// builds them nowhere else.
std::string obstacle(const std::vector<std::string_view>& parts) {
    std::string flat;
    for (const std::string_view part : parts) flat += part;
    if (const std::size_t odd = flat.find_first_not_of("EtmL"); odd != std::string::npos) {
        return fmt::format(
            "'{}' is no layer; E is the embedding, t a transformer layer, m a prediction module, L the "
            "loss, | ends a part",
            flat[odd]);
    }
    if (std::ranges::count(flat, 'E') != 1 || !parts.front().starts_with('E'))
        return "the first part begins with the one E";
    if (std::ranges::count(flat, 'L') != 1 || !parts.back().ends_with('L')) return "the last part ends with the one L";
    const std::size_t module = flat.find('m');
    if (module == std::string::npos) return {};
    if (flat.find('t', module) != std::string::npos) return "transformer layers stand before prediction modules";
    const auto with = std::ranges::count_if(parts, [](std::string_view part) { return part.find('m') != part.npos; });
    return with > 1 ? "all prediction modules stand on one part" : "";
}

std::uint32_t count(std::string_view part, char layer) {
    return static_cast<std::uint32_t>(std::ranges::count(part, layer));
}

// The size of an axis, as `layout` (const or not) holds it.
template <class AnyLayout>
auto& size_of(AnyLayout& layout, std::string_view axis) {
    const Scheme* const scheme = find_scheme(axis);
    WEFT_CHECK(scheme != nullptr, "no axis " + std::string(axis));
    if (scheme->size != nullptr) return layout.*scheme->size;
    const auto further = further_axes();
    return layout.further.at(static_cast<std::size_t>(std::ranges::find(further, axis) - further.begin()));
}

}  // namespace

StageLayout parse_stage_layout(std::string_view text, std::string& why) {
    std::string plain(text);
    std::erase(plain, ',');
    const std::string unrolled = unroll_characters(unroll_groups(plain));
    StageLayout layout;
    layout.text = text;
    if (unrolled.size() > longest) {
        why = fmt::format("unrolls to more than {} layers and parts", longest);
        return layout;
    }
    const std::vector<std::string_view> parts = parts_of(unrolled, '|');
    why = obstacle(parts);
    if (!why.empty()) return layout;
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
        layout.layers.push_back(count(parts[part], 't'));
        if (const std::uint32_t modules = count(parts[part], 'm'); modules > 0) {
            layout.mtp_layers = modules;
            layout.predictions = part;
        }
    }
    return layout;
}

std::string stage_layout_text(const std::vector<std::uint32_t>& layers, std::uint32_t prediction_part,
                              std::uint32_t mtp_layers) {
    const auto run = [](char layer, std::uint32_t count) {
        if (count < 2) return std::string(count, layer);
        return fmt::format("{}*{}", layer, count);
    };
    std::string text = "E";
    for (std::uint32_t part = 0; part < layers.size(); ++part) {
        if (part > 0) text += '|';
        text += run('t', layers[part]);
        if (part == prediction_part) text += run('m', mtp_layers);
    }
    return text + "L";
}

std::vector<std::string> usual_order() {
    static const std::vector<std::string> order = [] {
        const auto has_ranks = [](const Scheme* scheme) { return scheme->ranks != Scheme::Ranks::shared; };
        return list_of_those<std::string>(schemes_by_place(), has_ranks, &Scheme::axis);
    }();
    return order;
}

std::span<const std::string> further_axes() {
    static const std::vector<std::string> axes = [] {
        const auto is_further = [](const Scheme* scheme) { return scheme->size == nullptr; };
        auto found = list_of_those<std::string>(parallelism::all(), is_further, &Scheme::axis);
        WEFT_CHECK(found.size() <= most_further_axes, "more schemes than a layout has room for");
        return found;
    }();
    return axes;
}

std::uint32_t& Layout::size(std::string_view axis) { return size_of(*this, axis); }
std::uint32_t Layout::size(std::string_view axis) const { return size_of(*this, axis); }

std::uint64_t Layout::ranks_of_replica() const {
    std::uint64_t ranks = std::uint64_t{tensor} * context * pipeline;
    for (const std::uint32_t size : further) ranks *= size;
    return ranks;
}

std::uint32_t Layout::copies() const {
    std::uint32_t ranks = 1;
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->holds == Scheme::Holds::copies) ranks *= size(scheme->axis);
    }
    return ranks;
}

bool Layout::is_ordered(std::vector<std::string> axes) const {
    std::vector<std::string> own = order;
    for (std::vector<std::string>* const each : {&own, &axes}) {
        std::erase_if(*each, [this](const std::string& axis) { return size(axis) == 1; });
    }
    return own == axes;
}

// Prediction modules that stand apart do so in the order of parts over stages.
std::uint32_t Layout::embedding_copy() const {
    const bool by_part = split == StageSplit::by_hand && by_hand.predictions.has_value();
    return by_part ? *by_hand.predictions % pipeline : pipeline - 1;
}

RankGrid Layout::grid() const {
    return RankGrid(list_of<Axis>(order, [&](const std::string& axis) { return Axis{axis, size(axis)}; }));
}

std::string own_axes(const Layout& layout) {
    std::string text = fmt::format("tensor {}", layout.tensor);
    for (const std::string& axis : usual_order()) {
        if (axis == "tensor" || axis == "pipeline" || axis == "data" || layout.size(axis) == 1) continue;
        text += fmt::format(" x {} {}", axis, layout.size(axis));
    }
    return text + fmt::format(" x pipeline {} x data {}", layout.pipeline, layout.data);
}

std::string axes(const Layout& layout) {
    std::string text = own_axes(layout);
    for (const Scheme* scheme : parallelism::all()) {
        const bool cut = scheme->ranks == Scheme::Ranks::shared && layout.size(scheme->axis) > 1;
        if (cut) text += fmt::format(" ({} {})", scheme->axis, layout.size(scheme->axis));
    }
    return text;
}

RankGrid::RankGrid(std::vector<Axis> axes) : axes_(std::move(axes)) {
    for (const Axis& axis : axes_) {
        WEFT_CHECK(axis.size >= 1, "axis " + axis.name + " has no ranks");
        strides_.push_back(ranks_);
        ranks_ *= axis.size;
    }
}

std::size_t RankGrid::find(std::string_view axis) const {
    const auto it = std::ranges::find(axes_, axis, &Axis::name);
    WEFT_CHECK(it != axes_.end(), "no axis " + std::string(axis));
    return static_cast<std::size_t>(it - axes_.begin());
}

std::uint32_t RankGrid::size(std::string_view axis) const { return axes_[find(axis)].size; }
std::uint32_t RankGrid::stride(std::string_view axis) const { return strides_[find(axis)]; }

std::uint32_t RankGrid::coordinate(RankId rank, std::string_view axis) const {
    const std::size_t i = find(axis);
    return static_cast<std::uint32_t>(rank) / strides_[i] % axes_[i].size;
}

std::vector<RankId> RankGrid::slice(std::string_view axis, std::uint32_t coordinate) const {
    const std::uint32_t step = stride(axis);
    const std::uint32_t period = step * size(axis);
    std::vector<RankId> members;
    members.reserve(ranks_ / size(axis));
    for (std::uint32_t base = coordinate * step; base < ranks_; base += period) {
        for (std::uint32_t i = 0; i < step; ++i) members.push_back(RankId{base + i});
    }
    return members;
}

std::size_t Axes::place_of_further(std::string_view name) {
    const auto axes = further_axes();
    const auto found = std::ranges::find(axes, name);
    WEFT_CHECK(found != axes.end(), "no axis " + std::string(name));
    return static_cast<std::size_t>(found - axes.begin());
}

static Axes axes_that_hold(Scheme::Holds what) {
    Axes axes;
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->ranks != Scheme::Ranks::shared && scheme->holds == what) axes.add(scheme->axis);
    }
    return axes;
}

Axes copy_axes() {
    static const Axes axes = axes_that_hold(Scheme::Holds::copies);
    return axes;
}

Axes part_axes() {
    static const Axes axes = axes_that_hold(Scheme::Holds::parts);
    return axes;
}

Axes stage_axes() {
    static const Axes axes = [] {
        Axes found;
        for (const std::string& axis : usual_order()) {
            if (axis != "pipeline") found.add(axis);
        }
        return found;
    }();
    return axes;
}

}  // namespace weft
