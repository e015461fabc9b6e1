#include "tools/serve/workers.hpp"

#include <utility>

namespace weft {

Workers::Workers(unsigned threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
    for (unsigned t = 0; t < threads; ++t) {
        threads_.emplace_back([this](const std::stop_token& stop) { loop(stop); });
    }
}

Workers::~Workers() {
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
}

bool Workers::hand_out(std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        if (waiting_.size() >= most_waiting_) return false;
        waiting_.push_back(std::move(work));
    }
    changed_.notify_one();
    return true;
}

std::size_t Workers::under_way() const {
    const std::lock_guard lock(mutex_);
    return under_way_;
}

void Workers::loop(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); }) && !stop.stop_requested()) {
        std::function<void()> work = std::move(waiting_.front());
        waiting_.pop_front();
        ++under_way_;
        lock.unlock();
        work();
        work = nullptr;  // what it holds goes before it counts as done
        lock.lock();
        --under_way_;
    }
}

}  // namespace weft
