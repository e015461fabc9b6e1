#include "tools/serve/server.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tools/parallel.hpp"
#include "tools/serve/session.hpp"

namespace weft {
namespace {

using Tcp = boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::size_t most_waiting_simulations = 128, most_waiting_searches = 8;

// As many as may hold a page's worth of memory at once.
unsigned simulation_threads() { return std::clamp(all_threads(), 2U, 4U); }

Tcp::acceptor listener(boost::asio::io_context& io, const Tcp::endpoint& endpoint, ErrorCode& problem) {
    Tcp::acceptor acceptor(io);
    acceptor.open(endpoint.protocol(), problem);
    if (!problem) acceptor.set_option(Tcp::acceptor::reuse_address(true), problem);
    if (!problem) acceptor.bind(endpoint, problem);
    if (!problem) acceptor.listen(boost::asio::socket_base::max_listen_connections, problem);
    return acceptor;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

}  // namespace

class Server::Listening {
  public:
    Listening(Site site, std::uint16_t port) : site_(std::move(site)) {
        bind(port);
        site_.port = acceptors_.front().local_endpoint().port();
    }

    ~Listening() { stop(); }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

    std::uint16_t port() const { return site_.port; }

    void run() {
        for (std::size_t i = 0; i < acceptors_.size(); ++i) accept(i);
        io_.run();
    }

    void stop() {
        end_.request_stop();
        io_.stop();
    }

    bool is_working() const { return simulations_.under_way() + searches_.under_way() > 0; }

  private:
    void bind(std::uint16_t port) {
        constexpr int tries = 20;  // a port that is free on one address may not be on the other
        ErrorCode problem;
        for (int i = 0; i < tries; ++i) {
            acceptors_.clear();
            Tcp::acceptor four = listener(io_, {boost::asio::ip::address_v4::loopback(), port}, problem);
            if (problem) break;
            const std::uint16_t taken = four.local_endpoint().port();
            acceptors_.push_back(std::move(four));
            Tcp::acceptor six = listener(io_, {boost::asio::ip::address_v6::loopback(), taken}, problem);
            if (!problem) acceptors_.push_back(std::move(six));
            const bool in_use = problem == boost::asio::error::address_in_use;
            if (!in_use) return;  // a machine without IPv6 has no other address
            if (port != 0) break;
        }
        throw std::runtime_error(fmt::format("port {}: {}; --port 0 takes one that is free", port, problem.message()));
    }

    void accept(std::size_t i) {
        if (serving_.open >= serving_.limits.open) {
            waiting_.push_back(i);
            return;
        }
        acceptors_[i].async_accept([this, i](ErrorCode problem, Tcp::socket socket) {
            if (!problem) {
                serve_connection(std::move(socket), serving_,
                                 serving_.open < serving_.limits.served ? Welcome::served : Welcome::too_many);
                return accept(i);
            }
            constexpr std::chrono::milliseconds until_others_close{100};  // no descriptors are left
            pause_.expires_after(until_others_close);
            pause_.async_wait([this, i](ErrorCode) { accept(i); });
        });
    }

    void accept_again() {
        for (const std::size_t i : std::exchange(waiting_, {})) accept(i);
    }

    // Connections go with io_, and use what stands before it.
    Site site_;
    std::stop_source end_;
    Serving serving_{
        .site = site_, .simulations = simulations_, .searches = searches_, .end = end_.get_token(), .on_close = [this] {
            if (!end_.stop_requested()) boost::asio::post(io_, [this] { accept_again(); });
        }};
    boost::asio::io_context io_{1};  // run by one thread
    boost::asio::steady_timer pause_{io_};
    std::vector<Tcp::acceptor> acceptors_;
    std::vector<std::size_t> waiting_;  // acceptors, until a connection closes
    // Gone before what they work for.
    Workers simulations_{simulation_threads(), most_waiting_simulations};
    Workers searches_{1, most_waiting_searches};
};

Server::Server(Site site, std::uint16_t port) : listening_(std::make_unique<Listening>(std::move(site), port)) {}
Server::~Server() = default;
std::uint16_t Server::port() const { return listening_->port(); }
void Server::run() { listening_->run(); }
void Server::stop() { listening_->stop(); }
bool Server::is_working() const { return listening_->is_working(); }

void limit_memory() {
    rlimit limit{};
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    if (is_sanitized || pages <= 0 || page <= 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return;
    limit.rlim_cur = std::min(limit.rlim_max, rlim_t(pages) / 4 * 3 * rlim_t(page));
    ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace weft
