// The most memory that a benchmark needs, apart from those before it in the same program.
#pragma once

#include <malloc.h>

#include <fstream>
#include <string>

namespace weft::bench {

// Starts anew: what was freed goes back to the system, and Linux forgets the peak (proc(5), clear_refs).
inline void forget_peak_memory() {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;
}

// Resident at the fullest moment since, in MiB; 0 where the system does not tell.
inline double peak_mebibytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double kibibytes = 0;
        if (word == "VmHWM:" && status >> kibibytes) return kibibytes / 1024;
    }
    return 0;
}

}  // namespace weft::bench
