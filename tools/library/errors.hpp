// The failures of weft as those of its library. Internal to it.
#pragma once

#include <boost/program_options/errors.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/command_line.hpp"
#include "tools/library/weft.hpp"

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

}  // namespace weft::library
