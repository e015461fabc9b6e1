// The hash of all that the rows of a sweep follow from, part by part, so that a difference can be named.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/sweep/request.hpp"

namespace weft {

struct SweepInputs {
    std::vector<std::pair<std::string, std::string>> parts;  // "job text", ...: each with its hash
    bool operator==(const SweepInputs&) const = default;

    std::string digest() const;
    // The parts in which `other` differs, for a message: "job text, grid".
    std::string difference(const SweepInputs& other) const;
};

// Reads the job's file and every file that the job or a varied value names. Throws ConfigError: unreadable.
SweepInputs inputs_of(const SweepRequest& request);

}  // namespace weft
