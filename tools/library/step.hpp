// What a SimulatedStep of the library is made of. Internal to it.
#pragma once

#include <optional>

#include "tools/library/weft.hpp"
#include "tools/output/job_json.hpp"
#include "tools/page/sources.hpp"
#include "workloads/report/report.hpp"

namespace weft::library {

struct SimulatedStep::State {
    Study study;
    SimulationOptions options;
    Plan plan;
    Report report;
    std::optional<Seconds> wall;  // that the simulation took; absent: it was not run
    Document document;            // the job's, with all overrides
    Overrides overrides;

    JobRecord record() const;
    JobInput input() const;
    Simulation again(Recording recording) const;  // with every operation kept; throws std::logic_error
};

}  // namespace weft::library
