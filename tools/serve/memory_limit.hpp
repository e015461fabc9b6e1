// A server answers many, so that one request must not take the memory of the machine.
#pragma once

namespace weft {

// From now on allocations fail, and with them the answer, where the process would have more than three quarters of the
// machine's memory. Nothing under sanitizers, which reserve far more than they use.
void limit_memory();

}  // namespace weft
