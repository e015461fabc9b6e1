// What the script of timelines reads: lanes of slices, and what these have by number.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace weft {

struct TimelineLane {
    std::string name, dimension = "compute";
    // Of each slice, times in nanoseconds. What slices have none of stays empty.
    std::vector<std::int64_t> gap{}, length{}, label{}, micro{}, layer{}, call{}, wait{};
    std::int64_t end = 0;  // of the last slice

    // Of a slice that begins before the last one ends, what is behind it. A call of -1 is none.
    void add(std::int64_t from, std::int64_t to, std::int64_t what, std::int64_t of_call = -1);
    nlohmann::ordered_json json() const;
};

// The first lane of a name on which nothing is from a time on; a new one behind all if there is none.
TimelineLane& free_lane(std::vector<TimelineLane>& lanes, const std::string& name, std::int64_t from);

// Values, each once.
class NumberedValues {
  public:
    std::int64_t number_of(const nlohmann::ordered_json& value);
    nlohmann::ordered_json list() const;

  private:
    std::map<std::string, std::int64_t> numbers_;  // by their text
};

}  // namespace weft
