// Texts as lists.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

// What stands before, between and behind the separators: of an empty text one empty part.
inline std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

// "0,4-6": the first and the last of each part.
inline std::vector<std::pair<std::string_view, std::string_view>> ranges_in(std::string_view text) {
    std::vector<std::pair<std::string_view, std::string_view>> ranges;
    for (const std::string_view part : parts_of(text, ',')) {
        const std::size_t dash = part.find('-');
        ranges.emplace_back(part.substr(0, dash), dash == part.npos ? part : part.substr(dash + 1));
    }
    return ranges;
}

}  // namespace weft
