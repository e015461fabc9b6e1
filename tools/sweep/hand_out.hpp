// Who has which rows: hands them out in batches, takes them back from who is given up, and knows each as done once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tools/sweep/crew.hpp"

namespace weft {

class HandOut {
  public:
    HandOut(const std::vector<std::size_t>& rows, std::size_t members, std::size_t threads);

    // The next batch for a member that runs out of rows: as many as leave the others their share, at most 64. Empty if
    // it has enough, or none are left.
    std::vector<std::size_t> next(std::size_t member);
    // Whether this is the first time. Rows of a member that was given up may still come.
    bool finish(std::size_t member, std::size_t row);
    void give_back(std::size_t member, const std::vector<std::size_t>& rows);
    void give_up(std::size_t member);  // all that it has
    void stop();                       // no more are handed out

    bool is_done() const { return missing_.empty(); }
    bool is_idle() const;  // nobody has any
    bool is_idle(std::size_t member) const { return held_[member].empty(); }

  private:
    std::size_t threads_;  // of each member
    std::set<std::size_t> missing_;
    std::deque<std::size_t> waiting_;  // may hold some that are done by now
    std::vector<std::set<std::size_t>> held_;
    bool stopped_ = false;
};

// Threads that evaluate rows while another thread talks to the rest of the world.
class EvaluatorThreads {
  public:
    using Done = std::vector<std::pair<std::size_t, Row>>;

    EvaluatorThreads(const SweepWork& work, unsigned threads);
    ~EvaluatorThreads();  // waits for the rows under way
    EvaluatorThreads(const EvaluatorThreads&) = delete;
    EvaluatorThreads& operator=(const EvaluatorThreads&) = delete;

    void put(const std::vector<std::size_t>& rows);
    // What was finished since the last call; waits a while for something. Throws what evaluate() threw.
    Done take(std::chrono::milliseconds wait);
    std::vector<std::size_t> withdraw();  // the rows that are not begun: they will not be

  private:
    void loop();

    const SweepWork& work_;
    std::mutex mutex_;  // guards all but the threads
    std::condition_variable put_, done_;
    std::deque<std::size_t> waiting_;
    Done finished_;
    std::exception_ptr failure_;
    bool ends_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace weft
