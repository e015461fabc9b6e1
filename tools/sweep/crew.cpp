#include "tools/sweep/crew.hpp"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

class ThreadCrew final : public Crew {
  public:
    explicit ThreadCrew(unsigned threads) : threads_(threads) {}
    bool leads() const override { return true; }

    void run(const SweepWork& work) override {
        std::mutex mutex;  // one delivery at a time
        const auto evaluate = [&](std::size_t i) {
            if (work.stopped()) return;
            Row row = work.evaluate(work.rows[i]);
            const std::lock_guard lock(mutex);
            work.deliver(work.rows[i], std::move(row));
        };
        for_each_in_parallel(work.rows.size(), threads_, evaluate, {});
    }

  private:
    unsigned threads_;
};

}  // namespace

std::unique_ptr<Crew> thread_crew(unsigned threads) { return std::make_unique<ThreadCrew>(threads); }

HandOut::HandOut(const std::vector<std::size_t>& rows, std::size_t members, std::size_t threads)
    : threads_(threads), missing_(rows.begin(), rows.end()), waiting_(rows.begin(), rows.end()), held_(members) {}

std::vector<std::size_t> HandOut::next(std::size_t member) {
    std::vector<std::size_t> rows;
    std::set<std::size_t>& held = held_[member];
    // It gets more when its threads have just enough, so that none waits for the message.
    if (stopped_ || held.size() > threads_) return rows;
    constexpr std::size_t most = 64, turns = 4;
    const std::size_t share = waiting_.size() / (held_.size() * turns);
    const std::size_t batch = std::clamp(share, threads_, std::max(most, threads_));
    while (!waiting_.empty() && rows.size() < batch) {
        const std::size_t row = waiting_.front();
        waiting_.pop_front();
        if (!missing_.contains(row) || !held.insert(row).second) continue;
        rows.push_back(row);
    }
    return rows;
}

bool HandOut::finish(std::size_t member, std::size_t row) {
    held_[member].erase(row);
    return missing_.erase(row) > 0;
}

void HandOut::give_back(std::size_t member, const std::vector<std::size_t>& rows) {
    for (const std::size_t row : rows) {
        if (held_[member].erase(row) > 0) waiting_.push_front(row);
    }
}

void HandOut::give_up(std::size_t member) {
    const std::set<std::size_t> rows = held_[member];
    give_back(member, {rows.begin(), rows.end()});
}

void HandOut::stop() { stopped_ = true; }

bool HandOut::is_idle() const {
    return std::ranges::all_of(held_, [](const std::set<std::size_t>& held) { return held.empty(); });
}

EvaluatorThreads::EvaluatorThreads(const SweepWork& work, unsigned threads)
    : work_(work), workers_(threads, std::numeric_limits<std::size_t>::max()) {}

// None where what was put is withdrawn by now.
void EvaluatorThreads::evaluate_next() {
    std::unique_lock lock(mutex_);
    if (waiting_.empty()) return;
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

void EvaluatorThreads::put(const std::vector<std::size_t>& rows) {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), rows.begin(), rows.end());
    for (std::size_t i = 0; i < rows.size(); ++i) workers_.hand_out([this] { evaluate_next(); });
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
