// Which requests a server for this machine alone answers.
#pragma once

#include <cstdint>
#include <string>

#include "tools/serve/exchange.hpp"

namespace weft {

// Why not, or nothing. A page from elsewhere reaches a server on this machine by a name of its own that leads here (DNS
// rebinding), which Host tells, or by a request across origins, which Origin and Sec-Fetch-Site tell; links from
// anywhere may lead here.
std::string foreign(const HttpRequest& request, std::uint16_t port);

}  // namespace weft
