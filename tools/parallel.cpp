#include "tools/parallel.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <exception>

namespace weft {

unsigned all_threads() { return std::max(std::thread::hardware_concurrency(), 1U); }

void for_each_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work,
                          const std::function<void(std::size_t done, std::size_t count)>& done) {
    std::atomic<std::size_t> next{0};
    std::size_t ended = 0, failed = count;
    std::exception_ptr failure;
    std::mutex mutex;  // guards ended, failed, failure and the calls of done
    const auto loop = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            std::exception_ptr own;
            const auto attempt = [&own](const auto& action) {
                try {
                    action();
                } catch (...) {
                    own = std::current_exception();
                }
            };
            attempt([&] { work(i); });
            const std::lock_guard lock(mutex);
            ++ended;
            if (done && !own) attempt([&] { done(ended, count); });
            if (own && i < failed) {
                failed = i;
                failure = own;
            }
            if (own) next = count;
        }
    };
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min<std::size_t>(threads, count); ++t) others.emplace_back(loop);
    loop();
    others.clear();  // joins
    if (failure) std::rethrow_exception(failure);
}

ProgressBar::ProgressBar()
    : start_(std::chrono::steady_clock::now()), last_(start_), terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
    if (terminal_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(std::size_t done, std::size_t total) {
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || (done < total && now - last_ < 100ms)) return;
    last_ = now;
    constexpr std::size_t width = 30;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const double rate = static_cast<double>(done) / std::max(elapsed, 1e-9);
    const std::size_t filled = width * done / std::max<std::size_t>(total, 1);
    fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {}/{}  {:.1f}/s  {:.0f} s left", "", filled, "", width - filled, done,
               total, rate, static_cast<double>(total - done) / std::max(rate, 1e-9));
    std::fflush(stderr);
}

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
