#include <algorithm>
#include <numeric>

#include "sim/io/diagnostics.hpp"

namespace weft {
namespace {

// Damerau-Levenshtein (optimal string alignment): insertions, deletions, substitutions, swaps of neighbours.
// Row by row over the table  d(i, j) = distance of the first i letters of a and the first j of b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = above;
        std::swap(above, row);
    }
    return above[b.size()];
}

constexpr std::size_t telling_prefix = 3;  // "sim" for "simulate": that many letters of a beginning say what was meant

}  // namespace

std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known) {
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string& candidate : known) {
        const bool begun = name.size() >= telling_prefix && candidate.starts_with(name);
        std::size_t distance = edit_distance(name, candidate);
        if (begun) distance = std::min(distance, std::size_t{1});
        const std::size_t longer = std::max(name.size(), candidate.size());  // at that distance, no letter is the same
        if (distance <= std::max(name.size() / 3, std::size_t{2}) && distance < longer) {
            near.emplace_back(distance, candidate);
        }
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> names;
    for (const auto& [distance, candidate] : near) {
        if (names.size() < 3) names.push_back(candidate);
    }
    return names;
}

std::string_view key_meant(std::string_view word, std::span<const Synonym> synonyms) {
    std::string plain;
    for (const char c : word.substr(std::min(word.find_first_not_of('-'), word.size()))) {
        plain += c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    const auto found = std::ranges::find(synonyms, std::string_view(plain), &Synonym::word);
    return found == synonyms.end() ? std::string_view() : found->key;
}

std::string did_you_mean(std::span<const std::string> names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? ", did you mean \"" : " or \"") + name + "\"";
    return text.empty() ? text : text + "?";
}

std::string suggestion(std::string_view name, std::span<const std::string> known) {
    return did_you_mean(nearest(name, known));
}

std::vector<std::string> suggested_names(std::string_view message) {
    std::vector<std::string> names;
    std::size_t begin = message.find(", did you mean \"");
    for (begin = message.find('"', begin); begin != std::string_view::npos; begin = message.find('"', begin)) {
        const std::size_t end = message.find('"', ++begin);
        if (end == std::string_view::npos) break;
        names.emplace_back(message.substr(begin, end - begin));
        begin = end + 1;
        if (!message.substr(begin).starts_with(" or ")) break;
    }
    return names;
}

}  // namespace weft
