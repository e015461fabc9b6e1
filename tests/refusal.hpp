// What a refusal says.
#pragma once

#include <string>

#include "sim/io/diagnostics.hpp"

namespace weft::test {

// Of an `act` that may throw one; empty if it does not.
template <class Refusal = ConfigError, class Act>
std::string refusal_of(Act act) {
    try {
        act();
    } catch (const Refusal& refusal) {
        return refusal.what();
    }
    return "";
}

}  // namespace weft::test
