#include "tools/sweep/grid.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft {

Variation parse_variation(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw std::invalid_argument("expected KEY=V1,V2,..., got \"" + std::string(text) + "\"");
    }
    Variation variation{std::string(text.substr(0, equals)), {}};
    for (std::size_t start = equals + 1; start <= text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        if (comma == start) throw std::invalid_argument("empty value in \"" + std::string(text) + "\"");
        variation.values.emplace_back(text.substr(start, comma - start));
        start = comma + 1;
    }
    return variation;
}

std::size_t SweepGrid::size() const {
    std::size_t points = 1;
    for (const Variation& variation : variations_) points *= variation.values.size();
    return points;
}

std::vector<std::string> SweepGrid::point(std::size_t index) const {
    std::vector<std::string> values(variations_.size());
    for (std::size_t i = variations_.size(); i-- > 0;) {
        const auto& choices = variations_[i].values;
        values[i] = choices[index % choices.size()];
        index /= choices.size();
    }
    return values;
}

}  // namespace weft
