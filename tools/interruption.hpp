// Ctrl-C, and what a batch system sends before it kills: noticed instead of obeyed, so that work can end cleanly.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace weft {

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
