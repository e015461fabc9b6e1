#include "bench/peers/measure.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace weft::peers {
namespace {

Seconds seconds(const timeval& time) {
    return {static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6};
}

[[noreturn]] void answer(int to, const std::function<Answer()>& run) {
    try {
        const Answer answer = run();
        _exit(write(to, &answer, sizeof answer) == sizeof answer ? EXIT_SUCCESS : EXIT_FAILURE);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "peers: %s\n", error.what());
        _exit(EXIT_FAILURE);
    }
}

}  // namespace

Measurement measure(const std::function<Answer()>& run) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe for a run");
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process for a run");
    if (child == 0) answer(ends[1], run);
    close(ends[1]);
    Measurement result;
    const bool answered = read(ends[0], &result.answer, sizeof result.answer) == sizeof result.answer;
    close(ends[0]);
    int status = 0;
    rusage usage{};
    const bool ended = wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!answered || !ended) throw std::runtime_error("a run failed");
    result.wall = {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
    result.processor = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    result.peak = {static_cast<double>(usage.ru_maxrss) * 1024.0};
    return result;
}

}  // namespace weft::peers
