// Which of two versions of a framework is the later one.
#pragma once

#include <algorithm>
#include <string_view>

#include "workloads/framework_versions.hpp"

namespace weft {

// Whether a version of Megatron-LM is `name` or later; not, where the table, latest first, does not know that one yet.
inline bool is_since(const MegatronVersion& version, std::string_view name) {
    const auto place = [](std::string_view of) {
        return std::ranges::find(megatron_versions, of, &MegatronVersion::name) - megatron_versions.begin();
    };
    const auto since = place(name);
    return since < std::ssize(megatron_versions) && place(version.name) <= since;
}

}  // namespace weft
