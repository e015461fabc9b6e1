// Predictions over measurements as a square log-log picture, to stand inside a page: its colours are the page's, by the
// classes "grid", "identity", "band", "frame", "predict" and "fit".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct ScatterPoint {
    enum class Mark : std::uint8_t { predict, fit };  // a disc; a hollow diamond

    double measured = 0, predicted = 0;  // both above 0
    Mark mark{};
    std::string hint{};  // what a pointer over the mark is told
};

struct Scatter {
    std::string title{};  // what the picture shows, for whoever cannot see it
    std::string unit{};   // of both axes: "s", "B", ...
    std::vector<ScatterPoint> points{};
};

// With the line of equal values and a band of 10 % to either side. Points that are not finite or not above 0 are left
// out; of none there is an empty text.
std::string scatter_svg(const Scatter& scatter);

}  // namespace weft
