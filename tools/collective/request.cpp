#include "tools/collective/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/collective/algorithm.hpp"
#include "sim/io/diagnostics.hpp"

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

}  // namespace weft
