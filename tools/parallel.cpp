#include "tools/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace weft {

unsigned all_threads() { return std::max(std::thread::hardware_concurrency(), 1U); }

void for_each_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work,
                          const std::function<void(std::size_t done, std::size_t count)>& done) {
    std::atomic<std::size_t> next{0};
    std::size_t ended = 0, failed = count;
    std::exception_ptr failure;
    std::mutex mutex;  // guards ended, failed, failure and the calls of done
    const auto loop = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            std::exception_ptr own;
            const auto attempt = [&own](const auto& action) {
                try {
                    action();
                } catch (...) {
                    own = std::current_exception();
                }
            };
            attempt([&] { work(i); });
            const std::lock_guard lock(mutex);
            ++ended;
            try {
                if (done && !own) done(ended, count);
            } catch (...) {
                own = std::current_exception();
            }
            if (own && i < failed) {
                failed = i;
                failure = own;
            }
            if (own) next = count;
        }
    };
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min<std::size_t>(threads, count); ++t) others.emplace_back(loop);
    loop();
    others.clear();  // joins
    if (failure) std::rethrow_exception(failure);
}

}  // namespace weft
