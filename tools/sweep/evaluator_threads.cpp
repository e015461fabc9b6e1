#include "tools/sweep/evaluator_threads.hpp"

namespace weft {

EvaluatorThreads::EvaluatorThreads(const SweepWork& work, unsigned threads) : work_(work) {
    for (unsigned t = 0; t < threads; ++t) threads_.emplace_back([this] { loop(); });
}

EvaluatorThreads::~EvaluatorThreads() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    put_.notify_all();
}

void EvaluatorThreads::loop() {
    std::unique_lock lock(mutex_);
    while (true) {
        put_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
        if (ends_) return;
        const std::size_t row = waiting_.front();
        waiting_.pop_front();
        lock.unlock();
        std::exception_ptr failure;
        Row result;
        try {
            result = work_.evaluate(row);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure) failure_ = failure;
        finished_.emplace_back(row, std::move(result));
        done_.notify_one();
    }
}

void EvaluatorThreads::put(const std::vector<std::size_t>& rows) {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), rows.begin(), rows.end());
    put_.notify_all();
}

EvaluatorThreads::Done EvaluatorThreads::take(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    done_.wait_for(lock, wait, [this] { return !finished_.empty(); });
    if (failure_) std::rethrow_exception(failure_);
    return std::exchange(finished_, {});
}

std::vector<std::size_t> EvaluatorThreads::withdraw() {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> rows(waiting_.begin(), waiting_.end());
    waiting_.clear();
    return rows;
}

}  // namespace weft
