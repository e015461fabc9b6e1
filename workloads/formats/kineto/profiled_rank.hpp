// A trace of PyTorch's profiler as one rank of a recorded program.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/recorded/reading.hpp"

namespace weft {

// Kernels of a stream follow one another, each no sooner than its launch by the host, whose own time lies between its
// launches, and what it synchronised with; a call follows what was computed before it, a computation the calls that it
// waited for: which streams wait for which events the profiler does not say, so it is told from the times. Of several
// steps the one in the middle. `named`: the rank by the file's name, where the trace has none.
void read_profiled_rank(ByteSource& source, std::optional<std::uint32_t> named, RecordedReading& reading);

}  // namespace weft
