// What a search may choose about a job: keys of the job file, each with the values that are worth a try. The axes of
// the layout are those of the registered schemes, the schedules those of the registry.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

struct Knob {
    std::string key;                 // "layout.tensor"
    std::vector<std::string> names;  // of its values, by number; empty: the values are numbers
    std::uint32_t neutral = 1;       // its value before it is chosen, that of a job that says nothing
    std::string_view framework{};    // whose key it is, of one framework's; unsaid while neutral
    std::function<void(Job&, std::uint32_t)> set{};
    std::function<std::uint32_t(const Job&)> get{};
    // Worth a try on so many accelerators, ascending, at least one: given what the knobs before this one stand at.
    std::function<std::vector<std::uint32_t>(const Job&, std::uint32_t accelerators)> values{};

    std::string text(std::uint32_t value) const;        // as in a job file
    std::string assignment(std::uint32_t value) const;  // "layout.tensor=8"; "key=null" for what is left unsaid
    std::optional<std::uint32_t> parse(std::string_view text) const;
};

// What layout.split stands at where the job says its stages by hand: its own.
inline constexpr std::string_view split_by_hand = "as the job has it";

// In the order in which they are chosen, every value depending on those before: axes with ranks of their own, data,
// axes cut out of others, micro-batch, schedule, split of layers, virtual stages, recomputation, sequence parallelism,
// ZeRO stage, what communicates under computation.
std::vector<Knob> search_knobs();

// Ascending.
std::vector<std::uint32_t> divisors(std::uint32_t number);

}  // namespace weft
