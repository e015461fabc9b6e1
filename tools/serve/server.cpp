#include "tools/serve/server.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "tools/parallel.hpp"

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

Server::Server(Site site, std::uint16_t port)
    : site_(std::move(site)),
      serving_{.site = site_,
               .simulations = simulations_,
               .searches = searches_,
               .end = end_.get_token(),
               .on_close =
                   [this] {
                       if (!end_.stop_requested()) boost::asio::post(io_, [this] { accept_again(); });
                   }},
      simulations_(simulation_threads(), most_waiting_simulations),
      searches_(1, most_waiting_searches) {
    bind(port);
    site_.port = acceptors_.front().local_endpoint().port();
}

void Server::run() {
    for (std::size_t i = 0; i < acceptors_.size(); ++i) accept(i);
    io_.run();
}

void Server::stop() {
    end_.request_stop();
    io_.stop();
}

void Server::bind(std::uint16_t port) {
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

void Server::accept(std::size_t i) {
    if (serving_.open >= most_open) {
        waiting_.push_back(i);
        return;
    }
    acceptors_[i].async_accept([this, i](ErrorCode problem, Tcp::socket socket) {
        if (!problem) {
            serve_connection(std::move(socket), serving_,
                             serving_.open < most_served ? Welcome::served : Welcome::too_many);
            return accept(i);
        }
        constexpr std::chrono::milliseconds until_others_close{100};  // no descriptors are left
        pause_.expires_after(until_others_close);
        pause_.async_wait([this, i](ErrorCode) { accept(i); });
    });
}

void Server::accept_again() {
    for (const std::size_t i : std::exchange(waiting_, {})) accept(i);
}

void limit_memory() {
    rlimit limit{};
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    if (is_sanitized || pages <= 0 || page <= 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return;
    limit.rlim_cur = std::min(limit.rlim_max, rlim_t(pages) / 4 * 3 * rlim_t(page));
    ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace weft
