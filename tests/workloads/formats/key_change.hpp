// A key of a foreign file, what it changes of the job that is read, and the note on it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "workloads/formats/format.hpp"

namespace weft::test {

struct KeyChange {
    std::string said, patch;  // a merge patch
    std::string note{};       // "key: message"; empty: none is asked for
};
inline std::ostream& operator<<(std::ostream& out, const KeyChange& each) { return out << each.said; }

// `import`: of a file with the key; `without`: the job of the same file without it.
inline void expect_change(const Import& import, nlohmann::json without, const KeyChange& change) {
    without.merge_patch(nlohmann::json::parse(change.patch));
    EXPECT_EQ(nlohmann::json::parse(import.object.json()), without);
    const auto says = [&](const FormatNote& note) { return note.origin.key + ": " + note.message == change.note; };
    EXPECT_TRUE(change.note.empty() || std::ranges::any_of(import.notes, says)) << change.note;
}

}  // namespace weft::test
