// A progress bar with rate and remaining time on stderr, drawn only on a terminal.
#pragma once

#include <chrono>
#include <cstddef>

namespace weft {

class ProgressBar {
  public:
    ProgressBar();
    ~ProgressBar();  // clears the line
    void show(std::size_t done, std::size_t total);

  private:
    std::chrono::steady_clock::time_point start_, last_;
    bool terminal_;
};

}  // namespace weft
