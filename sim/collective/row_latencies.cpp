#include "sim/collective/row_latencies.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "sim/collective/critical_path.hpp"

namespace weft {
namespace {

// Message by message, or of so many together.
std::vector<std::uint32_t> kinds_of(const RowSurvey::Part& part) {
    std::vector<std::uint32_t> kinds;
    for (const RowSurvey::Messages& messages : part.messages) kinds.push_back(messages.first.kind);
    return kinds;
}

// Whether the messages of two parts are of equal kinds.
bool send_alike(const RowSurvey::Part& a, const RowSurvey::Part& b) {
    const auto are_alike = [](const RowSurvey::Messages& x, const RowSurvey::Messages& y) {
        return x.first.kind == y.first.kind && x.number == y.number && x.count == y.count && x.every == y.every;
    };
    return a.climbing == b.climbing && a.moved_kinds == b.moved_kinds &&
           std::ranges::equal(a.messages, b.messages, are_alike);
}

}  // namespace

Seconds RowLatencies::of(const Phase& phase, const ProtocolCost& protocol) {
    const auto [known, is_new] = known_.try_emplace({&protocol, phase.hops, phase.hops_across});
    if (!is_new) return known->second;
    if (turns_.empty()) {
        const std::vector<Part>& parts = survey_.parts();
        for (auto part = parts.begin(); part != parts.end(); ++part) {
            if (topology_.fabric()->has_mesh() && !part->climbing.empty()) {
                add_each(static_cast<std::uint32_t>(part - parts.begin()));
            } else if (std::none_of(parts.begin(), part, [&](const Part& p) { return send_alike(p, *part); })) {
                add(*part);
            }
        }
    }
    return known->second = longest(phase, protocol);
}

void RowLatencies::add(const Part& part) {
    const std::vector<std::uint32_t> kind_of = kinds_of(part);
    const std::vector<std::uint32_t> first = first_messages(kind_of);
    Turns alike{.rounds = rounds(part, kind_of)};
    const MessageKinds& kinds = survey_.kinds();
    const std::vector<std::uint32_t>& within = survey_.row().within;
    for (std::size_t i = 0; i < within.size(); ++i) {
        const auto turns_alike = [&](std::size_t at) {
            const std::uint32_t kind = part.messages[part.climbing[at]].first.kind;
            return kinds.size_of(survey_.moved_kind(part, at, i)).turn == kinds.size_of(kind).turn;
        };
        std::size_t at = 0;
        while (i > 0 && at < part.climbing.size() && turns_alike(at)) ++at;
        if (i == 0 || at == part.climbing.size()) {
            const auto moved_by = [&](std::uint32_t) { return within[i]; };
            std::vector<Seconds> of_kinds = on_links(part, first, moved_by);
            if (std::ranges::find(alike.of_kinds, of_kinds) == alike.of_kinds.end()) {
                alike.of_kinds.push_back(std::move(of_kinds));
            }
            continue;
        }
        std::vector<std::uint32_t> moved_kinds = kind_of;
        for (at = 0; at < part.climbing.size(); ++at) {
            moved_kinds[part.climbing[at]] = survey_.moved_kind(part, at, i);
        }
        // What may climb is of kinds that have moved.
        const auto moved_by = [&](std::uint32_t kind) { return kinds.may_climb(kind) ? 0 : within[i]; };
        turns_.push_back(
            {.rounds = rounds(part, moved_kinds), .of_kinds = {on_links(part, first_messages(moved_kinds), moved_by)}});
    }
    turns_.push_back(std::move(alike));
}

// Where the order of messages does not matter, all that climb are of one further kind.
void RowLatencies::add_each(std::uint32_t number) {
    const Part& part = survey_.parts()[number];
    const std::uint32_t further = survey_.kinds().size();
    std::vector<std::uint32_t> kind_of = kinds_of(part);
    const std::vector<std::uint32_t> first = first_messages(kind_of);
    std::vector<std::vector<Seconds>> of_kinds;  // but for further ones
    for (const std::uint32_t within : survey_.row().within) {
        of_kinds.push_back(on_links(part, first, [&](std::uint32_t) { return within; }));
    }
    for (const std::uint32_t at : part.climbing) kind_of[at] = further;
    Turns alike{.rounds =
                    in_order(survey_.phase()) ? std::vector<std::vector<std::uint32_t>>{} : rounds(part, kind_of)};
    for (const MeshPasses::Delays& delays : survey_.mesh().delays) {
        if (delays.part != number) continue;
        std::vector<Seconds> times = of_kinds[delays.within];
        if (!in_order(survey_.phase())) {
            times.push_back(delays.climbing.front());
            alike.of_kinds.push_back(std::move(times));
            continue;
        }
        for (std::size_t at = 0; at < part.climbing.size(); ++at) {
            const auto known = std::find(times.begin() + further, times.end(), delays.climbing[at]);
            kind_of[part.climbing[at]] = static_cast<std::uint32_t>(known - times.begin());
            if (known == times.end()) times.push_back(delays.climbing[at]);
        }
        turns_.push_back({.rounds = rounds(part, kind_of), .of_kinds = {std::move(times)}});
    }
    turns_.push_back(std::move(alike));
}

// By kind.
std::vector<std::uint32_t> RowLatencies::first_messages(const std::vector<std::uint32_t>& kind_of) const {
    std::vector<std::uint32_t> first(survey_.kinds().size(), none);
    for (auto i = static_cast<std::uint32_t>(kind_of.size()); i-- > 0;) first[kind_of[i]] = i;
    return first;
}

// In order where messages follow one another, otherwise each kind once.
std::vector<std::vector<std::uint32_t>> RowLatencies::rounds(const Part& part,
                                                             const std::vector<std::uint32_t>& kind_of) const {
    const std::uint32_t size = survey_.messages_per_channel();
    std::vector<std::vector<std::uint32_t>> rounds(communicator_.channels.size());
    std::vector<std::uint32_t> listed;  // by kind, the channel after that which listed it last
    for (std::size_t at = 0; at < part.messages.size(); ++at) {
        const RowSurvey::Messages& messages = part.messages[at];
        const std::uint32_t channel = messages.number / size, kind = kind_of[at];
        std::vector<std::uint32_t>& round = rounds[channel];
        if (in_order(survey_.phase())) {
            round.resize(size);
            for (std::uint32_t i = 0; i < messages.count; ++i)
                round[messages.number % size + i * messages.every] = kind;
        } else {
            if (kind >= listed.size()) listed.resize(kind + 1);
            if (listed[kind] != channel + 1) round.push_back(kind);
            listed[kind] = channel + 1;
        }
    }
    return rounds;
}

// Of the links that messages of each kind take in a group moved inside its nodes.
template <class MovedBy>
std::vector<Seconds> RowLatencies::on_links(const Part& part, const std::vector<std::uint32_t>& first,
                                            MovedBy moved_by) const {
    const MessageKinds& kinds = survey_.kinds();
    std::vector<Seconds> latencies(first.size());
    for (std::uint32_t kind = 0; kind < first.size(); ++kind) {
        if (first[kind] == none) continue;
        const RowSurvey::Message& message = part.messages[first[kind]].first;
        const RankId from = survey_.rank(part, message.from, kinds[kind].from + moved_by(kind)),
                     to = survey_.rank(part, message.to, kinds[kind].to + moved_by(kind));
        latencies[kind] = topology_.latency(topology_.route(from, to));
    }
    return latencies;
}

Seconds RowLatencies::longest(const Phase& phase, const ProtocolCost& protocol) const {
    Seconds longest;
    std::vector<MessageLatency> of_kinds, messages;
    std::vector<Seconds> in_a_row;
    for (const Turns& each : turns_) {
        for (const std::vector<Seconds>& links : each.of_kinds) {
            of_kinds.clear();
            for (std::uint32_t kind = 0; kind < links.size(); ++kind) {
                const bool across = is_across(kind);
                of_kinds.push_back({(across ? protocol.step_across : protocol.step_in_node) + links[kind], across});
            }
            for (const std::vector<std::uint32_t>& round : each.rounds) {
                if (in_order(phase)) {
                    in_a_row.resize(round.size());
                    std::ranges::transform(round, in_a_row.begin(), [&](std::uint32_t k) { return of_kinds[k].value; });
                    longest = std::max(longest, critical_path(phase, in_a_row));
                    continue;
                }
                messages.clear();
                for (const std::uint32_t kind : round) messages.push_back(of_kinds[kind]);
                longest = std::max(longest, critical_path(phase, messages));
            }
        }
    }
    return phase.peer == Peer::all ? longest + posting(topology_, protocol, communicator_.channels.front()) : longest;
}

}  // namespace weft
