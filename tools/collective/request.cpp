#include "tools/collective/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <utility>

#include "sim/base/hash.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/io/diagnostics.hpp"
#include "tools/parallel.hpp"

namespace weft {
namespace {

using Names = std::vector<std::string>;

void add_once(Names& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::string names_text(const Names& names) { return fmt::format("{}", fmt::join(names, ", ")); }

[[noreturn]] void refuse(std::string_view option, const Library& library, Collective op, std::string_view name,
                         const Names& known) {
    throw OptionError("--{}: {} has no \"{}\" for {}{} (it has: {})", option, library.name, name, weft::name(op),
                      suggestion(name, known), names_text(known));
}

std::string shape_text(const GroupShape& shape) {
    return fmt::format("{} ranks on {} node{}{}", shape.members, shape.nodes, shape.nodes == 1 ? "" : "s",
                       shape.even ? "" : ", unevenly spread");
}

// Why no candidate is left among those of the right names.
[[noreturn]] void refuse_shape(CollectiveSet& set, const CollectiveRequest& request) {
    Names possible;
    for (const Choice& choice : set.costs().candidates(request.op)) add_once(possible, choice.protocol->algorithm);
    const std::string& asked = request.preference.algorithm;
    throw OptionError("{} {} run {} among {}{}", request.library->name,
                      asked.empty() ? "cannot" : "with the algorithm " + asked + " cannot", name(request.op),
                      shape_text(set.costs().shape()),
                      possible.empty() ? "" : " (possible: " + names_text(possible) + ")");
}

[[noreturn]] void refuse_size(CollectiveSet& set, const CollectiveRequest& request, Bytes message) {
    Names bounds;
    for (const Choice& choice : set.costs().candidates(request.op, request.preference)) {
        const ProtocolCost& row = *choice.protocol;
        add_once(bounds, fmt::format("{} {} above {:.0f} up to {:.0f} B", row.algorithm, row.protocol,
                                     std::max(row.over.value, -1.0), row.most.value));
    }
    throw OptionError("no protocol of {} carries {} of {:.0f} B among {}; messages between two ranks: {}",
                      request.library->name, name(request.op), message.value, shape_text(set.costs().shape()),
                      names_text(bounds));
}

// In long double, as by default, functions are set up at start-up to digits that not all have: under valgrind that
// threw.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

// Between 0 and 1, neither of them.
double uniform(std::uint64_t seed, std::uint64_t sample, std::uint64_t round) {
    return (static_cast<double>(hash_of({seed, sample, round}) >> 11U) + 0.5) * 0x1p-53;
}

double messages_in_round(const Phase& phase, std::uint32_t members) {
    if (phase.peer == Peer::all) return members * (members - 1.0);
    double messages = 0.0;
    for_each_message(phase, members, [&](std::uint32_t, std::uint32_t, double) { ++messages; });
    return messages;
}

}  // namespace

void check_preference(const Library& library, Collective op, const Preference& preference) {
    Names algorithms, protocols, both;
    for (const ProtocolCost& row : library.costs) {
        if (!row.serves(op) || find_algorithm(op, row.algorithm) == nullptr) continue;
        add_once(algorithms, row.algorithm);
        add_once(protocols, row.protocol);
        if (row.algorithm == preference.algorithm) add_once(both, row.protocol);
    }
    if (algorithms.empty()) throw OptionError("{} has no {}", library.name, name(op));
    const auto lacks = [](const Names& names, const std::string& name) {
        return !name.empty() && std::find(names.begin(), names.end(), name) == names.end();
    };
    if (lacks(algorithms, preference.algorithm)) refuse("algorithm", library, op, preference.algorithm, algorithms);
    if (lacks(protocols, preference.protocol)) refuse("protocol", library, op, preference.protocol, protocols);
    if (!preference.algorithm.empty() && lacks(both, preference.protocol)) {
        throw OptionError("--protocol: {} runs {} by {} in {} only, not in {}", library.name, name(op),
                          preference.algorithm, names_text(both), preference.protocol);
    }
}

Choice choose(CollectiveSet& set, const CollectiveRequest& request, Bytes message) {
    if (const auto choice = set.costs().choose(request.op, message, request.preference)) return *choice;
    if (set.costs().candidates(request.op, request.preference).empty()) refuse_shape(set, request);
    refuse_size(set, request, message);
}

// All of m factors are below x with probability F(x)^m = p. The chance 1 - p^(1/m) of one above it is what the normal
// distribution is asked for, so that it loses no digits where m is large.
double slowest_factor(double deviation, double messages, double p) {
    const double above = -std::expm1(std::log(p) / messages);
    const double normal = std::sqrt(2.0) * boost::math::erfc_inv(2.0 * above, InDouble{});
    const double variance = std::log1p(deviation * deviation);
    return std::exp(std::sqrt(variance) * normal - variance / 2.0);
}

Seconds sampled_time(Seconds fixed, std::span<const JitteredRounds> all, const JitterTerms& terms, std::size_t sample) {
    Seconds sum = fixed;
    std::uint64_t drawn = 0;
    for (const JitteredRounds& rounds : all) {
        double factors = 0.0;
        for (std::uint64_t round = 0; round < rounds.rounds; ++round) {
            factors += slowest_factor(terms.deviation, rounds.messages, uniform(terms.seed, sample, drawn++));
        }
        sum += rounds.each * factors;
    }
    return sum;
}

TimeQuantiles quantiles(std::vector<Seconds> times) {
    std::ranges::sort(times);
    const auto quantile = [&](double share) {
        return times[static_cast<std::size_t>(std::ceil(share * static_cast<double>(times.size()))) - 1];
    };
    return {quantile(0.50), quantile(0.95), quantile(0.99)};
}

TimeQuantiles sampled_times(Seconds fixed, std::span<const JitteredRounds> rounds, const JitterTerms& terms) {
    std::vector<Seconds> times(terms.samples);
    for_each_in_parallel(
        times.size(), terms.jobs, [&](std::size_t i) { times[i] = sampled_time(fixed, rounds, terms, i); },
        [](std::size_t, std::size_t) {});
    return quantiles(std::move(times));
}

JitteredCall jittered_call(CollectiveSet& set, const Topology& topology, const Choice& choice, Bytes message) {
    const SetLayout& layout = set.layout();
    const std::vector<Phase> phases =
        layout.members() < 2 ? std::vector<Phase>{} : choice.algorithm->phases(set.costs().shape());
    JitteredCall call;
    std::span<const Phase> left(phases);
    for (const PhaseCost& cost : set.costs().phases(choice)) {
        call.fixed += cost.launch;
        if (left.empty()) break;
        JitteredRounds stretch{.each = cost.latency(message) - cost.launch, .rounds = 0, .messages = 0.0};
        if (!is_unlimited(cost.pattern)) stretch.each += cost.bytes(message) / idle_rate(cost.pattern, topology);
        for (const Phase& phase : left.first(cost.phases)) {
            stretch.rounds += phase.repeat;
            stretch.messages = std::max(stretch.messages, messages_in_round(phase, layout.members()));
        }
        left = left.subspan(cost.phases);
        stretch.each = stretch.each / static_cast<double>(stretch.rounds);
        stretch.messages *= set.channels(choice) * layout.groups;
        call.rounds.push_back(stretch);
    }
    return call;
}

}  // namespace weft
