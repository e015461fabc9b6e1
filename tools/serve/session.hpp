// Connections, and the threads that work for them.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "tools/serve/site.hpp"

namespace weft {

class Workers {
  public:
    Workers(unsigned threads, std::size_t most_waiting);
    ~Workers();  // waits for the work under way and drops what waits
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    // False: too much waits already. Work does not throw.
    bool hand_out(std::function<void()> work);
    std::size_t under_way() const;

  private:
    void loop(const std::stop_token& stop);

    const std::size_t most_waiting_;
    mutable std::mutex mutex_;  // guards the next three
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> waiting_;
    std::size_t under_way_ = 0;
    std::vector<std::jthread> threads_;
};

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
