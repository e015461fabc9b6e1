#include "tools/sweep/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace weft {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// The end of the key that begins at `begin` and is followed by "="; `begin` if there is none.
std::size_t end_of_key(std::string_view text, std::size_t begin) {
    constexpr std::string_view of_keys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]@+-";
    const std::size_t end = text.find_first_not_of(of_keys, begin);
    return end < text.size() && text[end] == '=' ? end : begin;
}

// Where the list of values that begins at `begin` ends: at its end, or before a space and the next KEY=.
std::size_t end_of_list(std::string_view text, std::size_t begin) {
    for (std::size_t i = begin; i < text.size();) {
        const std::size_t end = end_of_value(text, i);
        // A value in brackets or quotation marks may hold what looks like a key.
        std::size_t from = i;
        while (from < end && is_space(text[from])) ++from;
        from = end_of_json(text, from);
        for (std::size_t space = from; space < end; ++space) {
            if (is_space(text[space]) && end_of_key(text, space + 1) > space + 1) return space;
        }
        i = end + 1;
    }
    return text.size();
}

}  // namespace

Variation parse_variation(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw std::invalid_argument(fmt::format("expected KEY=V1,V2,..., got \"{}\"", text));
    }
    const std::string key(text.substr(0, equals));
    return zipped({key}, {parse_value_list(text.substr(equals + 1))});
}

Variation parse_zip(std::string_view text) {
    std::vector<std::string> keys;
    std::vector<std::vector<std::string>> values;
    for (std::size_t i = 0; i < text.size();) {
        if (is_space(text[i])) {
            ++i;
            continue;
        }
        const std::size_t equals = end_of_key(text, i);
        if (equals == i) {
            throw std::invalid_argument(fmt::format(
                "expected KEY=V1,V2 KEY=V1,V2 ..., got \"{}\" (keys are parted by spaces)", text.substr(i)));
        }
        const std::size_t end = end_of_list(text, equals + 1);
        keys.emplace_back(text.substr(i, equals - i));
        values.push_back(parse_value_list(text.substr(equals + 1, end - equals - 1)));
        i = end;
    }
    if (keys.size() < 2) {
        throw std::invalid_argument(fmt::format("expected two keys or more, as in \"a=1,2 b=3,4\", got \"{}\"", text));
    }
    return zipped(std::move(keys), values);
}

Variation zipped(std::vector<std::string> keys, const std::vector<std::vector<std::string>>& values) {
    for (std::size_t i = 1; i < keys.size(); ++i) {
        if (values[i].size() != values.front().size()) {
            throw std::invalid_argument(fmt::format("{} has {} values but {} has {}; zipped keys have as many each",
                                                    keys.front(), values.front().size(), keys[i], values[i].size()));
        }
    }
    Variation variation{.keys = std::move(keys), .steps = {}};
    for (std::size_t step = 0; step < values.front().size(); ++step) {
        variation.steps.emplace_back();
        for (const std::vector<std::string>& of_key : values) variation.steps.back().push_back(of_key[step]);
    }
    return variation;
}

SweepGrid::SweepGrid(std::vector<Variation> variations) : variations_(std::move(variations)) {
    std::set<std::string_view> known;
    for (const Variation& variation : variations_) {
        for (const std::string& key : variation.keys) {
            if (column_name(key).empty()) throw std::invalid_argument("a key is empty");
            if (!known.insert(column_name(key)).second) {
                throw std::invalid_argument(fmt::format("{} is varied twice", column_name(key)));
            }
            keys_.push_back(key);
        }
        if (size_ > most_points / std::max<std::size_t>(variation.steps.size(), 1)) {
            throw std::invalid_argument(fmt::format("the grid has more than {} points", most_points));
        }
        size_ *= variation.steps.size();
    }
}

std::vector<std::string> SweepGrid::point(std::size_t index) const {
    std::vector<std::string> values(keys_.size());
    std::size_t place = values.size();
    for (auto variation = variations_.rbegin(); variation != variations_.rend(); ++variation) {
        const std::vector<std::string>& step = variation->steps[index % variation->steps.size()];
        index /= variation->steps.size();
        place -= step.size();
        std::ranges::copy(step, values.begin() + static_cast<std::ptrdiff_t>(place));
    }
    return values;
}

std::vector<std::string> SweepGrid::overrides(std::size_t index) const {
    std::vector<std::string> values = point(index), assignments;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (!keys_[i].starts_with(label_mark)) assignments.push_back(keys_[i] + "=" + values[i]);
    }
    return assignments;
}

std::vector<std::string> SweepGrid::all_values() const {
    std::vector<std::string> values;
    for (const Variation& variation : variations_) {
        values.push_back(fmt::format("{} x {}", variation.keys.size(), variation.steps.size()));
        for (const std::vector<std::string>& step : variation.steps) {
            values.insert(values.end(), step.begin(), step.end());
        }
    }
    return values;
}

std::string_view column_name(std::string_view key) { return key.starts_with(label_mark) ? key.substr(1) : key; }

}  // namespace weft
