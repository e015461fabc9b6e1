// The "layout" object of a job file.
#pragma once

#include "sim/io/document.hpp"
#include "workloads/layout/layout.hpp"

namespace weft {

struct ReadLayout {
    Layout layout;
    bool data_given = false;
    bool expert_tensor_given = false;
};

// Refuses unknown keys, and records mistakes in the document. Without the object, one rank.
ReadLayout read_layout(Field& root);

}  // namespace weft
