// Independent pieces of work on threads, the tools that they work with, and how far they have come.
#pragma once

#include <signal.h>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace weft {

unsigned all_threads();  // of the processor, as far as the system says; at least 1

// work(0) ... work(count - 1), each once, on up to `threads` threads. Once one throws no more are begun, and of what
// was thrown the exception with the lowest number comes out. `done` hears of each end, from any thread, one at a time;
// what it throws ends the work as well.
void for_each_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work,
                          const std::function<void(std::size_t done, std::size_t count)>& done);

// What a thread needs for its work; taken while it works on one piece and given back for the next, by whomever.
template <class Tool>
class Shelf {
  public:
    template <class Make>
    std::unique_ptr<Tool> take(const Make& make) {
        {
            const std::lock_guard lock(mutex_);
            if (!free_.empty()) {
                std::unique_ptr<Tool> tool = std::move(free_.back());
                free_.pop_back();
                return tool;
            }
        }
        return make();
    }
    void give_back(std::unique_ptr<Tool> tool) {
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(tool));
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Tool>> free_;
};

// A progress bar with rate and remaining time on stderr, drawn only on a terminal.
class ProgressBar {
  public:
    ProgressBar();
    ~ProgressBar();  // clears the line
    void show(std::size_t done, std::size_t total);

  private:
    std::chrono::steady_clock::time_point start_, last_;
    bool terminal_;
};

// Ctrl-C, and what a batch system sends before it kills: noticed instead of obeyed, so that work can end cleanly.

// While it lives, the first SIGINT or SIGTERM is a request; the second ends the process as it would without this.
// Make it before the threads that work: they inherit that signals do not reach them.
class Interruption {
  public:
    explicit Interruption(std::function<void()> on_request);  // called once, from a thread of its own
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    bool requested() const { return state_ == State::requested; }

  private:
    enum class State : std::uint8_t { waiting, requested, over };

    void watch();

    std::function<void()> on_request_;
    std::atomic<State> state_ = State::waiting;
    sigset_t signals_{}, before_{};
    std::jthread watcher_;
};

}  // namespace weft
