// A node whose accelerators are joined by an irregular graph of links, such as the eight dies of four MI250X.
#include <fmt/format.h>

#include "topologies/blocks/block.hpp"

namespace weft::blocks {
namespace {

using Matrix = std::vector<std::vector<std::uint32_t>>;

// Empty after an error of shape.
Matrix read_matrix(Field& block) {
    Matrix matrix;
    std::vector<Field> rows = block.list("links");
    bool square = !rows.empty();
    for (Field& row : rows) {
        auto cells = list_of<std::uint32_t>(row.elements(), &Field::as_whole);
        if (cells.size() != rows.size()) {
            row.error("", "expected {} numbers, one per accelerator, got {}", rows.size(), cells.size());
            square = false;
        }
        matrix.push_back(std::move(cells));
    }
    return square ? matrix : Matrix{};
}

void check_symmetric(Field& block, const Matrix& matrix) {
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        if (matrix[i][i] != 0) block.error("links", "accelerator {} has {} links to itself", i, matrix[i][i]);
        for (std::size_t j = 0; j < i; ++j) {
            if (matrix[i][j] == matrix[j][i]) continue;
            block.error("links", "not symmetric: {} links from {} to {}, but {} from {} to {}", matrix[j][i], j, i,
                        matrix[i][j], i, j);
        }
    }
}

NodePlan read_graph(Field block, const LinkClasses& classes) {
    block.text("source", "");
    const std::string family = block.text("link");
    const Matrix matrix = read_matrix(block);
    check_symmetric(block, matrix);

    NodePlan plan;
    plan.accelerators = static_cast<std::uint32_t>(matrix.size());
    for (std::uint32_t i = 0; i < plan.accelerators; ++i) {
        for (std::uint32_t j = i + 1; j < plan.accelerators; ++j) {
            if (matrix[i][j] == 0) continue;
            plan.connect(i, j, classes.find(block, "links", fmt::format("{}.x{}", family, matrix[i][j])));
        }
    }
    read_packages(block, plan);
    if (block.has("host")) plan.switches = 1;
    read_nics(block, classes, plan);
    if (plan.switches > 0) {
        const LinkClassId host = classes.read(block, "host");
        for (std::uint32_t i = 0; i < plan.accelerators; ++i) plan.connect(i, plan.switch_vertex(0), host);
    }
    check_connected(block, "links", plan);
    block.done();
    return plan;
}

}  // namespace

extern const BlockKind graph{.name = "graph", .read_node = read_graph};

}  // namespace weft::blocks
