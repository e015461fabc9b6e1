#include "tools/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace weft {

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

}  // namespace weft
