// Threads for answers, and a bounded queue before them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weft {

class Workers {
  public:
    Workers(unsigned threads, std::size_t most_waiting);
    ~Workers();  // waits for the work under way and drops what waits
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    // False: too much waits already. Work does not throw.
    bool hand_out(std::function<void()> work);
    std::size_t under_way() const;

  private:
    void loop(const std::stop_token& stop);

    const std::size_t most_waiting_;
    mutable std::mutex mutex_;  // guards the next three
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> waiting_;
    std::size_t under_way_ = 0;
    std::vector<std::jthread> threads_;
};

}  // namespace weft
