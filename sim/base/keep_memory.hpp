// What a program does with memory that it no longer needs.
#pragma once

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace weft {

// Keeps it: large tables come and go by turns, and what was given back to the system would be asked for, and cleared,
// again. For the first line of main().
inline void keep_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace weft
