// The pages of a site on this machine's own addresses: connections, which workers answer.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "tools/serve/site.hpp"

namespace weft {

// Of connections: those that are served, more are told so; that are open at all, more wait to be accepted.
inline constexpr std::size_t most_served = 512, most_open = 900;

// Threads that do what is handed out to them, in that order.
class Workers {
  public:
    Workers(unsigned threads, std::size_t most_waiting) : most_waiting_(most_waiting), pool_(threads) {}

    // False: too much waits already. Work does not throw.
    bool hand_out(std::function<void()> work) {
        if (waiting_++ >= most_waiting_) return --waiting_, false;
        boost::asio::post(pool_, [this, work = std::move(work)]() mutable {
            --waiting_;
            ++under_way_;
            work();
            work = nullptr;  // what it holds goes before it counts as done
            --under_way_;
        });
        return true;
    }
    std::size_t under_way() const { return under_way_; }

  private:
    const std::size_t most_waiting_;
    std::atomic<std::size_t> waiting_ = 0, under_way_ = 0;
    boost::asio::thread_pool pool_;  // whose end waits for the work under way and drops what waits
};

// What all connections share.
struct Serving {
    const Site& site;
    Workers& simulations;              // for answers of one simulation
    Workers& searches;                 // and of many
    std::stop_token end;               // the server ends
    std::function<void()> on_close{};  // of any connection
    std::atomic<std::size_t> open{0};
};

enum class Welcome : std::uint8_t { served, too_many };

// One connection: requests read one after another, answered by workers, and written. Reads and writes on the socket's
// executor, which one thread runs, until either side closes.
void serve_connection(boost::asio::ip::tcp::socket socket, Serving& serving, Welcome welcome);

class Server {
  public:
    // Listens on 127.0.0.1 and, where there is one, ::1. Port 0: one that is free. std::runtime_error: port in use, or
    // not this user's.
    Server(Site site, std::uint16_t port);
    ~Server() { stop(); }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::uint16_t port() const { return site_.port; }
    void run();   // until stop()
    void stop();  // from any thread
    // Whether some answer is still worked for: a simulation runs to its end.
    bool is_working() const { return simulations_.under_way() + searches_.under_way() > 0; }

  private:
    void bind(std::uint16_t port);
    void accept(std::size_t i);
    void accept_again();

    // Connections go with io_, and use what stands before it.
    Site site_;
    std::stop_source end_;
    Serving serving_;
    boost::asio::io_context io_{1};  // run by one thread
    boost::asio::steady_timer pause_{io_};
    std::vector<boost::asio::ip::tcp::acceptor> acceptors_;
    std::vector<std::size_t> waiting_;  // acceptors, until a connection closes
    // Gone before what they work for.
    Workers simulations_, searches_;
};

// A server answers many, so that one request must not take the memory of the machine: from now on allocations fail, and
// with them the answer, where the process would have more than three quarters of the machine's memory. Nothing under
// sanitizers, which reserve far more than they use.
void limit_memory();

}  // namespace weft
