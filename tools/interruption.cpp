#include "tools/interruption.hpp"

#include <utility>

namespace weft {

Interruption::Interruption(std::function<void()> on_request) : on_request_(std::move(on_request)) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    watcher_ = std::jthread([this] { watch(); });
}

Interruption::~Interruption() {
    if (state_.exchange(State::over) == State::waiting) pthread_kill(watcher_.native_handle(), SIGTERM);  // wakes it
    state_.notify_one();
    watcher_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interruption::watch() {
    int taken = 0;
    sigwait(&signals_, &taken);
    State waiting = State::waiting;
    if (!state_.compare_exchange_strong(waiting, State::requested)) return;
    on_request_();
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);  // the next one reaches this thread, and with it the process
    state_.wait(State::requested);
}

}  // namespace weft
