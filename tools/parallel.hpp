// Independent pieces of work on threads.
#pragma once

#include <cstddef>
#include <functional>

namespace weft {

unsigned all_threads();  // of the processor, as far as the system says; at least 1

// work(0) ... work(count - 1), each once, on up to `threads` threads. Once one throws no more are begun, and of what
// was thrown the exception with the lowest number comes out. `done` hears of each end, from any thread, one at a time;
// what it throws ends the work as well.
void for_each_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work,
                          const std::function<void(std::size_t done, std::size_t count)>& done);

}  // namespace weft
