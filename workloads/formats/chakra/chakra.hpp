// Chakra execution traces: a file per rank. Source: schema/protobuf/et_def.proto of mlcommons/chakra (fields and
// types), and what ASTRA-sim's feeder takes for granted where the schema is silent. Times in the files are
// microseconds.
#pragma once

#include "workloads/recorded/reading.hpp"

namespace weft {

// All of one file, which is of one rank. What a mistake spoils alone is told with the others; a file that goes on as no
// protobuf throws a ConfigError at once.
void read_chakra(ByteSource& source, std::uint32_t rank, RecordedReading& reading);

}  // namespace weft
