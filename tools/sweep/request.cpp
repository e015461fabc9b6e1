#include "tools/sweep/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "tools/output/result_table.hpp"
#include "tools/sweep/condition.hpp"

namespace weft {
namespace {

bool read_whole(std::string_view text, std::uint32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

std::vector<ResultCell> cells_of(const std::vector<std::string>& values) {
    std::vector<ResultCell> cells;
    for (const std::string& value : values) cells.push_back(cell_of_json(value));
    return cells;
}

}  // namespace

SweepShard parse_shard(std::string_view text) {
    const std::size_t slash = text.find('/');
    SweepShard shard;
    if (slash == std::string_view::npos || !read_whole(text.substr(0, slash), shard.number) ||
        !read_whole(text.substr(slash + 1), shard.of) || shard.number < 1 || shard.number > shard.of) {
        throw std::invalid_argument(fmt::format("expected I/N with I from 1 to N, got \"{}\"", text));
    }
    return shard;
}

std::vector<std::size_t> points_of(const SweepRequest& request) {
    std::vector<Condition> conditions;
    for (const std::string& text : request.conditions) {
        try {
            conditions.emplace_back(text, request.grid.keys());
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(fmt::format("\"{}\": {}", text, error.what()));
        }
    }
    std::vector<std::size_t> points;
    for (std::size_t i = 0; i < request.grid.size(); ++i) {
        const std::vector<ResultCell> values =
            conditions.empty() ? std::vector<ResultCell>{} : cells_of(request.grid.point(i));
        if (std::ranges::all_of(conditions, [&](const Condition& each) { return each.holds(values); })) {
            points.push_back(i);
        }
    }
    if (points.empty()) {
        throw std::invalid_argument(fmt::format("none of the {} points holds for {}", request.grid.size(),
                                                fmt::format("\"{}\"", fmt::join(request.conditions, "\" and \""))));
    }
    return points;
}

}  // namespace weft
