// What links carried, as comma-separated values, a row for each.
//
//   from, to                the vertices that it joins (VertexNames)
//   cable                   0, or its number among the links from one of them to the other
//   class, bandwidth_bytes_per_s
//   load_bytes, busy        the bytes that crossed it and the flags between them, on links of nodes and of their ports
//                           divided by what the library reaches of these (sim/cost/protocol_limits.hpp); and
//                           load_bytes / (bandwidth x time)
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "sim/network/link_traffic.hpp"
#include "tools/output/text_stream.hpp"
#include "topologies/vertex_names.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

class LinkFile {
  public:
    // `before`: headings of the columns that come first, each followed by a comma. Compressed if the name ends in .gz.
    LinkFile(const std::filesystem::path& path, const Topology& topology, std::string_view before = {});

    // In the order of their numbers; with `whole`, only those that carried anything in its time. `before`: cells of the
    // first columns, likewise.
    void add(const LinkTraffic& traffic, std::string_view before, const LinkTraffic* whole = nullptr);
    // Without it nothing is written. Throws std::runtime_error.
    void commit() { out_.commit(); }

  private:
    const Topology& topology_;
    VertexNames names_;
    Table<LinkId, std::uint16_t> cable_;
    TextStream out_;
};

// A LinkFile of all links of the machine's part that was built, each by itself, however the step was folded. In slices,
// if the step has them: columns "slice,begin_s,end_s" come first, and only links that carry anything in the step are
// there, in every slice.
void write_step_links(const Simulation& run, const std::filesystem::path& path);

}  // namespace weft
