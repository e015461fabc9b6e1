// Links as cells of a matrix, for pictures of a network: rows and columns are what its links join.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

struct LinkMatrix {
    std::string title;        // "Between leaves and spines"
    std::string row, column;  // what they stand for: "leaf", "spine"
    std::uint32_t rows = 0, columns = 0;
    std::string to_column{}, to_row{};  // what the two ways are called ("up", "down"), where links of a cell take both
};

enum class MatrixWay : std::uint8_t { to_column, to_row };

// Where a link stands. Several links may share a cell.
struct MatrixPlace {
    std::uint32_t matrix = 0;  // number of it
    std::uint32_t row = 0, column = 0;
    MatrixWay way = MatrixWay::to_column;
    bool operator==(const MatrixPlace&) const = default;
};

}  // namespace weft
