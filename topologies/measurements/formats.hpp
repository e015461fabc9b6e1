// One reader per format; measurement.cpp decides which. Each throws ConfigError for what it cannot read.
#pragma once

#include "topologies/measurements/lines.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {

MeasurementTable read_nccl_tests(const TableText& text, const MeasurementHints& hints);
MeasurementTable read_nccl_tests_json(std::string file, std::string text, const MeasurementHints& hints);
MeasurementTable read_osu(const TableText& text, const MeasurementHints& hints);
MeasurementTable read_measurement_csv(const TableText& text, const MeasurementHints& hints);

// What the program said it measures, as "all_reduce" in "all_reduce_perf"; nothing if no comment names one.
std::optional<Collective> nccl_tests_op(const TableText& text);
std::optional<Collective> nccl_tests_program(std::string_view word);  // of the program's name, with its folder
std::optional<std::string> osu_heading(const TableText& text);        // "# OSU MPI Allreduce Latency Test v7.5"

}  // namespace weft
