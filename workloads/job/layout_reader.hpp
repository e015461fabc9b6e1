// The "layout" object of a job file.
#pragma once

#include <string>
#include <vector>

#include "sim/io/document.hpp"
#include "workloads/layout/layout.hpp"

namespace weft {

struct ReadLayout {
    Layout layout;
    bool data_given = false;
    bool expert_tensor_given = false;
};

std::vector<std::string> stage_split_names();  // in a job file, by number; without by_hand

// Refuses unknown keys, and records mistakes in the document. Without the object, one rank.
ReadLayout read_layout(Field& root);

}  // namespace weft
