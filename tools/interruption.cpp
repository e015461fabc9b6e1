#include "tools/interruption.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace weft {

Interruption::Interruption(std::function<void()> on_request) : on_request_(std::move(on_request)) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    arrivals_ = ::signalfd(-1, &signals_, SFD_CLOEXEC);
    end_ = ::eventfd(0, EFD_CLOEXEC);
    if (arrivals_ < 0 || end_ < 0) throw std::system_error(errno, std::generic_category(), "signals");
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    watcher_ = std::jthread([this] { watch(); });
}

Interruption::~Interruption() {
    eventfd_write(end_, 1);
    watcher_.join();
    ::close(arrivals_);
    ::close(end_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interruption::watch() {
    std::array<pollfd, 2> watched{
        {{.fd = arrivals_, .events = POLLIN, .revents = 0}, {.fd = end_, .events = POLLIN, .revents = 0}}};
    while (::poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
    }
    if ((watched[0].revents & POLLIN) == 0) return;
    signalfd_siginfo taken{};
    if (::read(arrivals_, &taken, sizeof taken) != static_cast<ssize_t>(sizeof taken)) return;
    requested_ = true;
    on_request_();
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);  // the next one reaches this thread, and with it the process
    eventfd_t ended = 0;
    eventfd_read(end_, &ended);
}

}  // namespace weft
