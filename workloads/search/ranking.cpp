#include "workloads/search/ranking.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>

namespace weft {
namespace {

// Of each value among all, from 0; equal values share the mean.
std::vector<double> ranks(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first;
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        for (std::size_t i = first; i < end; ++i) ranks[order[i]] = (double(first) + double(end) - 1) / 2;
        first = end;
    }
    return ranks;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "3e+08": behind what follows the mantissa that ends at `end`.
std::size_t end_of_exponent(std::string_view text, std::size_t end) {
    const bool is_there = end + 2 < text.size() && text[end] == 'e' && (text[end + 1] == '+' || text[end + 1] == '-') &&
                          is_digit(text[end + 2]);
    if (!is_there) return end;
    end += 2;
    while (end < text.size() && is_digit(text[end])) ++end;
    return end;
}

}  // namespace

std::vector<std::size_t> pareto_front(std::span<const TimeAndMemory> points) {
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
        if (points[i].time != points[j].time) return points[i].time < points[j].time;
        return points[i].memory < points[j].memory;
    });
    std::vector<std::size_t> front;
    for (const std::size_t i : order) {
        if (front.empty() || points[i].memory < points[front.back()].memory) front.push_back(i);
    }
    return front;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
    const std::vector<double> x = ranks(a), y = ranks(b);
    const double middle = (double(x.size()) - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - middle) * (y[i] - middle);
        xx += (x[i] - middle) * (x[i] - middle);
        yy += (y[i] - middle) * (y[i] - middle);
    }
    return xx == 0 || yy == 0 ? 1.0 : xy / std::sqrt(xx * yy);
}

std::string without_numbers(std::string_view message) {
    std::string text;
    for (std::size_t i = 0; i < message.size(); ++i) {
        // Numbers that are part of a name ("1f1b", "ZeRO-3") tell reasons apart.
        const bool in_word =
            i > 0 && (std::isalnum(static_cast<unsigned char>(message[i - 1])) || message[i - 1] == '-');
        if (!is_digit(message[i]) || in_word) {
            text += message[i];
            continue;
        }
        std::size_t end = i;
        while (end < message.size() && (is_digit(message[end]) || message[end] == '.')) ++end;
        while (message[end - 1] == '.') --end;
        end = end_of_exponent(message, end);
        const bool names = end < message.size() && std::isalpha(static_cast<unsigned char>(message[end]));
        if (names) {
            text += message.substr(i, end - i);
        } else {
            text += '#';
        }
        i = end - 1;
    }
    return text;
}

std::vector<Difference> differences(const StepParts& slower, const StepParts& faster) {
    std::vector<Difference> list{{"compute", slower.compute - faster.compute},
                                 {"optimizer", slower.optimizer - faster.optimizer},
                                 {"exposed communication", slower.exposed - faster.exposed},
                                 {"pipeline bubble", slower.bubble - faster.bubble},
                                 {"stage imbalance", slower.imbalance - faster.imbalance}};
    std::ranges::stable_sort(list, std::greater{}, [](const Difference& one) { return one.more.value; });
    return list;
}

}  // namespace weft
