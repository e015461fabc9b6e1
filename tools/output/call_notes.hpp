// What a table of calls should not be read without.
#pragma once

#include <span>
#include <string>

#include "tools/collective/table.hpp"

namespace weft {

// Comment lines: where a larger message is the faster one and why, what shared NICs cost, how well such calls
// are known.
std::string call_notes(const CollectiveRequest& request, std::span<const CollectiveRow> rows);

}  // namespace weft
