// What is like an input that weft reads, and not quite: changed in its structure, its words or its bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/fuzz/draws.hpp"

namespace weft::test {

using Json = nlohmann::ordered_json;

// The text with 1 to `most` changes: members dropped, renamed, twice, of another type or size, nested, or those of
// another seed at the same place.
std::string mutated_json(const std::vector<Json>& seeds, std::size_t most, Draws& draws);
// With lines or words dropped, twice, swapped, out of another seed, or beyond sense.
std::string mutated_text(const std::vector<std::string>& seeds, std::size_t most, Draws& draws);
// With bytes replaced, inserted or removed, a piece of it many times, or its end missing.
std::string mutated_bytes(std::string text, std::size_t most, Draws& draws);

}  // namespace weft::test
