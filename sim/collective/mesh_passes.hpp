// What the groups of a survey pass between the switches of a mesh. There each message is looked at by itself: those of
// one kind take other links in every group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/collective/link_passes.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class RowSurvey;

struct MeshPasses {
    std::vector<LinkPasses> of_all{};  // groups together; by link and size

    // Groups of a part, moved inside their nodes alike, that load the mesh alike, each by itself: a link for each of
    // the loads that links of it have.
    struct Alike {
        std::uint32_t part = 0, within = 0;
        std::vector<LinkPasses> passes{};  // by link and size
    };
    std::vector<Alike> alike{};
    // Groups of a part, moved inside their nodes alike, whose messages take links so long.
    struct Delays {
        std::uint32_t part = 0, within = 0;
        std::vector<Seconds> climbing{};  // of RowSurvey::Part::climbing; the longest alone, unless their order matters
    };
    std::vector<Delays> delays{};
};

// Of a survey on a mesh, all parts of which are read.
MeshPasses mesh_passes(const Topology& topology, const RowSurvey& survey);

}  // namespace weft
