#include "tools/serve/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace weft {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

}  // namespace

void limit_memory() {
    rlimit limit{};
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    if (is_sanitized || pages <= 0 || page <= 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return;
    limit.rlim_cur = std::min(limit.rlim_max, rlim_t(pages) / 4 * 3 * rlim_t(page));
    ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace weft
