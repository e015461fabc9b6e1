// The failures of weft as those of its library, and what a SimulatedStep is made of. Internal to it.
#pragma once

#include <boost/program_options/errors.hpp>

#include <optional>
#include <stdexcept>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/command_line.hpp"
#include "tools/library/weft.hpp"
#include "tools/output/job_json.hpp"
#include "tools/page/inputs.hpp"
#include "workloads/report/report.hpp"

namespace weft::library {

std::vector<Mistake> mistakes_of(const ConfigError& error);

// work(), whose user's mistakes come out as InputError.
template <class Work>
auto told(const Work& work) {
    try {
        return work();
    } catch (const ConfigError& error) {
        throw InputError(error.what(), mistakes_of(error));
    } catch (const RangeError& error) {
        throw InputError(error.what(), {});
    } catch (const UsageError& error) {
        throw InputError(error.what(), {});
    } catch (const boost::program_options::error& error) {
        throw InputError(error.what(), {});
    } catch (const std::invalid_argument& error) {
        throw InputError(error.what(), {});
    }
}

struct SimulatedStep::State {
    Study study;
    SimulationOptions options;
    Plan plan{};
    Report report{};
    std::optional<Seconds> wall{};  // that the simulation took; absent: it was not run
    Document document;              // the job's, with all overrides
    Overrides overrides;

    JobRecord record() const;
    JobInput input() const;
    Simulation again(Recording recording) const;  // with every operation kept; throws std::logic_error
};

}  // namespace weft::library
