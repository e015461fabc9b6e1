#include "workloads/layout/layout.hpp"

#include <fmt/format.h>

#include "sim/base/texts.hpp"

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

}  // namespace weft
