#include "workloads/explain/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "workloads/keys/key.hpp"
#include "workloads/parallelism/scheme.hpp"
#include "workloads/search/plan_result.hpp"

namespace weft {
namespace {

// Of values in order, the one before and the one after what the job has.
std::vector<std::uint32_t> beside(const std::vector<std::uint32_t>& values, std::uint32_t own) {
    std::vector<std::uint32_t> found;
    const auto after = std::ranges::upper_bound(values, own);
    const auto before = std::ranges::lower_bound(values, own);
    if (before != values.begin()) found.push_back(*std::prev(before));
    if (after != values.end()) found.push_back(*after);
    return found;
}

// Ranks along one axis more or fewer are data ranks fewer or more.
void add_axis(const Knob& knob, const Scheme& scheme, const Job& job, std::vector<Alternative>& found) {
    const std::uint32_t accelerators = job.layout.ranks();
    Job rest = job;
    knob.set(rest, 1);
    for (const std::uint32_t value : beside(knob.values(rest, accelerators), knob.get(job))) {
        Alternative one{.assignments = {knob.assignment(value)}};
        if (scheme.ranks == Scheme::Ranks::own) {
            Job other = job;
            knob.set(other, value);
            one.assignments.push_back(fmt::format("layout.data={}", accelerators / other.layout.ranks_of_replica()));
        }
        found.push_back(std::move(one));
    }
}

void add_knob(const Knob& knob, Job job, std::vector<Alternative>& found) {
    const std::uint32_t own = knob.get(job);
    std::vector<std::uint32_t> values = knob.values(job, job.layout.ranks());
    if (knob.names.empty()) values = beside(values, own);
    for (const std::uint32_t value : values) {
        if (value != own) found.push_back({.assignments = {knob.assignment(value)}});
    }
}

// A schedule of several model parts per stage needs their number, and one of a single part has none.
void add_schedules(const Knob& schedules, const Knob& counts, Job job, std::vector<Alternative>& found) {
    for (const std::uint32_t value : schedules.values(job, job.layout.ranks())) {
        if (value == schedules.get(job)) continue;
        Job other = job;
        schedules.set(other, value);
        const std::vector<std::uint32_t> parts = counts.values(other, job.layout.ranks());
        found.push_back({.assignments = {schedules.assignment(value), counts.assignment(parts.front())}});
    }
}

// The order of axes with more than one rank, two neighbours exchanged.
void add_orders(const Job& job, std::vector<Alternative>& found) {
    std::vector<std::string> order = job.layout.order;
    const auto is_used = [&](const std::string& axis) { return job.layout.size(axis) > 1; };
    for (auto first = std::ranges::find_if(order, is_used); first != order.end();) {
        const auto second = std::find_if(std::next(first), order.end(), is_used);
        if (second == order.end()) break;
        std::swap(*first, *second);
        found.push_back({.assignments = {fmt::format("layout.order={}", fmt::join(order, ","))}});
        std::swap(*first, *second);
        first = second;
    }
}

// Of keys that no search tries more of than what the job says, what their rows say.
void add_rows(std::vector<Alternative>& found) {
    std::vector<const JobKey*> keys;
    for (const JobKey& key : all_keys()) {
        if (!key.alternatives.values.empty()) keys.push_back(&key);
    }
    std::ranges::stable_sort(keys, {}, [](const JobKey* key) { return key->alternatives.place; });
    for (const JobKey* const key : keys) {
        for (const std::string& value : key->alternatives.values) {
            found.push_back({.assignments = {fmt::format("{}={}", key->path, value)},
                             .changes_numerics = key->alternatives.change_numerics});
        }
    }
}

}  // namespace

std::vector<Alternative> alternatives(const Job& job) {
    std::vector<Alternative> found;
    const std::vector<Knob> knobs = search_knobs();
    const auto knob_of = [&](std::string_view key) -> const Knob& {
        return *std::ranges::find(knobs, key, &Knob::key);
    };
    const std::vector<const Scheme*> schemes = schemes_by_place();
    for (const Knob& knob : knobs) {
        const auto scheme = std::ranges::find_if(
            schemes, [&](const Scheme* each) { return knob.key == fmt::format("layout.{}", each->axis); });
        if (scheme != schemes.end()) {
            if ((*scheme)->ranks != Scheme::Ranks::rest) add_axis(knob, **scheme, job, found);
        } else if (knob.key == "schedule") {
            add_schedules(knob, knob_of("layout.virtual_stages"), job, found);
        } else if (knob.key != "layout.split") {
            add_knob(knob, job, found);
        }
    }
    add_orders(job, found);
    add_rows(found);
    return found;
}

}  // namespace weft
