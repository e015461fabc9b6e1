#include "sim/network/constraints.hpp"

#include <algorithm>
#include <array>

#include "sim/base/hash.hpp"

namespace weft {
namespace {

constexpr std::size_t tightest_compared = 8;

std::uint64_t fingerprint_of(BytesPerSecond capacity, std::span<const Crossing> crossings) {
    Fingerprint print;
    print.add(capacity.value);
    for (const Crossing& crossing : crossings) print.add(std::uint64_t{index(crossing.pattern)}).add(crossing.load);
    return print.value();
}

// The share of the constraint that one byte per second on the pattern takes.
double tightness(const Constraint& constraint, const Crossing& crossing) {
    return crossing.load / constraint.capacity.value;
}

bool is_implied(const Constraint& loose, const Constraint& tight) {
    auto other = tight.crossings.begin();
    for (const Crossing& crossing : loose.crossings) {
        while (other != tight.crossings.end() && other->pattern < crossing.pattern) ++other;
        if (other == tight.crossings.end() || other->pattern != crossing.pattern) return false;
        if (tightness(tight, *other) < tightness(loose, crossing)) return false;
    }
    return true;
}

// The constraints on each pattern, tightest first; only the first few are kept.
struct Tightest {
    double tightness;
    std::uint32_t constraint;
};

std::vector<std::vector<Tightest>> tightest_by_pattern(const std::vector<Constraint>& constraints,
                                                       std::size_t patterns) {
    const auto tighter = [](const Tightest& a, const Tightest& b) {
        return a.tightness != b.tightness ? a.tightness > b.tightness : a.constraint < b.constraint;
    };
    std::vector<std::vector<Tightest>> found(patterns);
    for (std::uint32_t i = 0; i < constraints.size(); ++i) {
        for (const Crossing& crossing : constraints[i].crossings) {
            auto& list = found[index(crossing.pattern)];
            const Tightest entry{tightness(constraints[i], crossing), i};
            list.insert(std::upper_bound(list.begin(), list.end(), entry, tighter), entry);
            if (list.size() > tightest_compared) list.pop_back();
        }
    }
    return found;
}

}  // namespace

std::vector<Constraint> find_constraints(const Topology& topology, const LinkPatterns& crossed) {
    std::vector<Constraint> constraints;
    std::unordered_multimap<std::uint64_t, std::uint32_t> by_fingerprint;  // looked up, never iterated over
    std::array<std::uint32_t, 4> recent{};  // constraints of links just before: neighbours are mostly equal
    std::size_t oldest = 0;
    for (std::size_t place = 0; place < crossed.links().size(); ++place) {
        const std::span<const Crossing> crossings = crossed.on(place);
        const BytesPerSecond capacity = topology.link(crossed.links()[place]).bandwidth;
        const auto is_known = [&](std::uint32_t id) {
            return id < constraints.size() && constraints[id].capacity == capacity &&
                   std::ranges::equal(constraints[id].crossings, crossings);
        };
        if (std::ranges::any_of(recent, is_known)) continue;
        const std::uint64_t print = fingerprint_of(capacity, crossings);
        const auto [first, last] = by_fingerprint.equal_range(print);
        const auto known = std::find_if(first, last, [&](const auto& entry) { return is_known(entry.second); });
        recent[oldest++ % recent.size()] =
            known != last ? known->second : static_cast<std::uint32_t>(constraints.size());
        if (known != last) continue;
        by_fingerprint.emplace(print, static_cast<std::uint32_t>(constraints.size()));
        constraints.push_back({capacity, {crossings.begin(), crossings.end()}});
    }
    return constraints;
}

std::vector<Constraint> drop_implied(std::vector<Constraint> constraints, std::size_t patterns) {
    const auto tightest = tightest_by_pattern(constraints, patterns);
    std::vector<Constraint> kept;
    for (std::uint32_t i = 0; i < constraints.size(); ++i) {
        const auto& candidates = tightest[index(constraints[i].crossings.front().pattern)];
        const bool implied = std::any_of(candidates.begin(), candidates.end(), [&](const Tightest& candidate) {
            const std::uint32_t other = candidate.constraint;
            if (other == i || !is_implied(constraints[i], constraints[other])) return false;
            return other < i || !is_implied(constraints[other], constraints[i]);  // of two equal ones the first stays
        });
        if (!implied) kept.push_back(constraints[i]);
    }
    return kept;
}

}  // namespace weft
