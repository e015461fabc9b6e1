// A machine whose node, links and network another tool's file says, and all else a machine of weft.
#pragma once

#include <string>
#include <string_view>

#include "workloads/formats/format.hpp"

namespace weft {

// Begins it: what it extends and its title. Files of platforms do not say what computes and which library communicates:
// without --like that is an error, and false.
bool begin_machine(Import& import, const FormatOptions& options, std::string_view title, const std::string& file);
// A class of link, used to the full.
void add_link(Import& import, std::string_view name, std::string_view bandwidth, const Origin& bandwidth_origin,
              std::string_view latency, const Origin& latency_origin);
// A node of so many accelerators with a NIC each, on a link that has no latency of its own.
void add_nics(Draft& node, std::uint32_t accelerators, std::string_view link, const Origin& origin);
// Takes out whatever the other machine has in the parts that were made, and the names of its nodes.
void end_machine(Import& import, const FormatOptions& options);

}  // namespace weft
