// Connections, which workers answer.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>

#include "tools/parallel.hpp"
#include "tools/serve/site.hpp"

namespace weft {

// One connection: requests read one after another, answered by workers, and written.
struct ConnectionLimits {
    std::uint32_t header_bytes = 64U << 10U;  // a job fits into an address
    std::uint64_t body_bytes = 1U << 20U;
    std::chrono::seconds reading{30};  // of a request, from when the connection is free for it
    std::chrono::seconds writing{60};
    std::chrono::seconds closing{2};  // until the client has read a last answer
    std::size_t served = 512;         // connections that are served; more are told so
    std::size_t open = 900;           // that are open at all; more wait to be accepted
};

// What all connections share.
struct Serving {
    const Site& site;
    Workers& simulations;  // for answers of one simulation
    Workers& searches;     // and of many
    std::stop_token end;   // the server ends
    ConnectionLimits limits{};
    std::function<void()> on_close{};  // of any connection
    std::atomic<std::size_t> open{0};
};

enum class Welcome : std::uint8_t { served, too_many };

// Reads and writes on the socket's executor, which one thread runs, until either side closes.
void serve_connection(boost::asio::ip::tcp::socket socket, Serving& serving, Welcome welcome);

}  // namespace weft
