// A measured collective as a job of its own: the keys of a validation row that measures collective_s.
//
//   machine library op ranks ranks_per_node groups size algorithm protocol calls fabric node_list
//
// as the options of `weft collective` mean them. size: of the full buffer, with its unit ("64 KiB"). node_list: the
// nodes of the run, by name or number ("12 13 20").
#pragma once

#include "sim/io/document.hpp"
#include "tools/collective/request.hpp"

namespace weft {

// Throws ConfigError with every mistake.
CollectiveRequest read_collective(Document document);

// Seconds of the call. Throws ConfigError if the library cannot run it.
Seconds collective_time(const CollectiveRequest& request);

}  // namespace weft
