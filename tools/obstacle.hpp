// Why a job has no result, on one line, for rows and tables that go on without it.
#pragma once

#include <string>

#include "sim/io/diagnostics.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

std::string obstacle(const ConfigError& error);  // "layout.tensor: 12 heads ...; zero: ..."
std::string obstacle(const Plan& plan);          // "does not fit: stage 0 needs 123 GiB of 64.0 GiB"; empty if it fits

}  // namespace weft
