// A benchmark program: prove, then time.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

namespace weft::bench {

// Runs the benchmarks if `proof` holds, that what they time gives the right answer.
template <class Proof>
int prove_then_time(int argc, char** argv, Proof proof) {
    if (!proof()) {
        std::fputs("the answers differ; nothing was timed\n", stderr);
        return EXIT_FAILURE;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
    benchmark::RunSpecifiedBenchmarks();
    return EXIT_SUCCESS;
}

}  // namespace weft::bench
