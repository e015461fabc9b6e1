// Tables of measured kernels, as tools/measure/kernels.py writes them: CSV, comments begin with '#'.
//
//   kind            gemm attention attention_backward memory launch host contended (models/calibration)
//   precision       fp32 fp16 bf16 fp8; bf16 if empty
//   m n k count     of a gemm: m x n x k, count of them in one launch
//   keys head_size heads batch   of causal attention; as many queries as keys
//   bytes           read and written by memory and launch kernels
//   seconds         of one kernel
//   alone_seconds   contended: of the same kernel without communication
//   spread          optional: of the repetitions, as a share of seconds. Rows that vary count less
//   name            of memory kernels: the class of pass; else for people
//   ...             any other column is for people, and for --hold
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/calibration/kernel_measurement.hpp"

namespace weft {

struct DeviceTableRow {
    KernelMeasurement measured;
    double weight = 1.0;
    bool is_held = false;
    int line = 0;
};

// A column and the text in its cells.
using HeldCell = std::pair<std::string, std::string>;

// Rows that meet one of `holds` are held. Throws ConfigError with every mistake (20 at most) and its line.
std::vector<DeviceTableRow> read_device_table(const std::string& path, std::string_view text,
                                              const std::vector<HeldCell>& holds);

}  // namespace weft
