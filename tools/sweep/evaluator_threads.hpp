// Threads that evaluate rows while another thread talks to the rest of the world.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tools/sweep/crew.hpp"

namespace weft {

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
