#include "workloads/recorded/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "workloads/recorded/reading.hpp"

namespace weft {
namespace {

class Matcher {
  public:
    explicit Matcher(const RecordedProgram& program) : program_(program) {
        std::uint32_t first = 0;
        for (const RecordedRank& rank : program.ranks) {
            found_.first_node.push_back(first);
            first += static_cast<std::uint32_t>(rank.nodes.size());
        }
        found_.first_node.push_back(first);
        found_.of_node.assign(first, no_meeting);
    }

    Meetings run() && {
        check_ranks();
        check_circles();
        check_groups();
        mistakes_.check();  // what follows needs these
        match_collectives();
        match_messages();
        mistakes_.check();
        return std::move(found_);
    }

  private:
    const RecordedRank& rank(std::size_t number) const { return program_.ranks[number]; }
    const RecordedNode& node(std::uint32_t number) const { return found_.node(program_, number); }
    void mistake(std::uint32_t at, std::string message) {
        mistakes_.add(rank(found_.rank_of(at)), node(at), std::move(message));
    }
    std::string called(std::uint32_t at) const {
        const RecordedRank& of = rank(found_.rank_of(at));
        return fmt::format("{}{} {}", of.file, of.ids_are_lines ? ": line" : ": node", node(at).id);
    }

    // That says how many ranks there are.
    std::string last_file() const {
        const auto last = std::ranges::find_if(program_.ranks.rbegin(), program_.ranks.rend(),
                                               [](const RecordedRank& one) { return !one.file.empty(); });
        return last == program_.ranks.rend() ? std::string() : last->file;
    }

    void check_ranks() {
        for (std::size_t i = 0; i < program_.ranks.size(); ++i) {
            const RecordedRank& one = rank(i);
            if (one.file.empty()) {
                mistakes_.add({.file = last_file(),
                               .key = {},
                               .message = fmt::format("rank {} is missing: there are traces of ranks up to {}", i,
                                                      program_.ranks.size() - 1)});
                continue;
            }
            for (const RecordedNode& node : one.nodes) {
                const bool is_message = node.kind == RecordedKind::send || node.kind == RecordedKind::receive;
                if (is_message && node.partner >= program_.ranks.size()) {
                    mistakes_.add(one, node,
                                  fmt::format("rank {} is missing: there are {}", node.partner, program_.ranks.size()));
                }
            }
        }
    }

    // Nodes wait for those of their rank alone. Of each rank one circle is told.
    void check_circles() {
        const Successors successors(program_, found_);
        std::vector<std::uint32_t> waits = counts_of_dependencies(program_), ready;  // few of millions are ready
        for (std::uint32_t at = 0; at < waits.size(); ++at) {
            if (waits[at] == 0) ready.push_back(at);
        }
        while (!ready.empty()) {
            const std::uint32_t at = ready.back();
            ready.pop_back();
            for (const NodeDependency& after : successors.of(at)) {
                if (--waits[after.node] == 0) ready.push_back(after.node);
            }
        }
        for (std::size_t i = 0; i < program_.ranks.size(); ++i) {
            const std::span waits_here = std::span(waits).subspan(found_.first_node[i], rank(i).nodes.size());
            const auto stuck = std::ranges::find_if(waits_here, [](std::uint32_t count) { return count > 0; });
            if (stuck != waits_here.end()) add_circle(rank(i), waits_here, stuck - waits_here.begin());
        }
    }

    // Backwards from a node that cannot begin, along others that cannot, until one comes again.
    void add_circle(const RecordedRank& rank, std::span<const std::uint32_t> waits, std::ptrdiff_t stuck) {
        auto node = static_cast<std::uint32_t>(stuck);
        for (std::vector<bool> seen(waits.size(), false); !seen[node];) {
            seen[node] = true;
            const auto waits_too = [&](NodeDependency on) { return waits[on.node] > 0; };
            node = std::ranges::find_if(rank.dependencies_of(node), waits_too)->node;
        }
        mistakes_.add(rank, rank.nodes[node], "waits in a circle for itself");
    }

    // Where each member is in its group, by rank.
    void check_groups() {
        places_.resize(program_.ranks.size());
        std::vector<bool> is_sound;
        for (std::uint32_t group = 0; group < program_.groups.size(); ++group) {
            const std::vector<std::uint32_t>& members = program_.groups[group];
            is_sound.push_back(true);
            for (std::uint32_t place = 0; place < members.size(); ++place) {
                const bool is_there = members[place] < program_.ranks.size();
                const bool is_new = is_there && places_[members[place]].try_emplace(group, Place{place, 0}).second;
                is_sound[group] = is_sound[group] && is_new;
            }
        }
        for (std::size_t i = 0; i < program_.ranks.size(); ++i) {
            for (const RecordedNode& node : rank(i).nodes) {
                if (node.kind != RecordedKind::collective) continue;
                const auto undefined = program_.undefined_groups.find(node.partner);
                if (undefined != program_.undefined_groups.end()) {
                    mistakes_.add(rank(i), node, "is of " + undefined->second);
                } else if (!is_sound[node.partner]) {
                    mistakes_.add(rank(i), node,
                                  fmt::format("is of a group of ranks that are missing or named twice: {}",
                                              ranks_text(node.partner)));
                } else if (!places_[i].contains(node.partner)) {
                    mistakes_.add(rank(i), node,
                                  fmt::format("rank {} is not in its group {}", i, ranks_text(node.partner)));
                }
            }
        }
    }

    std::string ranks_text(std::uint32_t group) const {
        const std::vector<std::uint32_t>& members = program_.groups[group];
        const std::size_t shown = std::min<std::size_t>(members.size(), 8);
        return fmt::format("[{}{}]", fmt::join(std::span(members).first(shown), ", "),
                           shown < members.size() ? ", ..." : "");
    }

    // The n-th call of a group by one member meets the n-th of the others.
    void match_collectives() {
        std::vector<std::uint32_t> calls(program_.groups.size(), 0);  // of the member that makes most
        each_collective([&](std::uint32_t group, std::uint32_t, std::uint32_t n, std::uint32_t) {
            calls[group] = std::max(calls[group], n + 1);
        });
        std::vector<std::uint32_t> first_meeting;
        for (std::uint32_t group = 0; group < calls.size(); ++group) {
            first_meeting.push_back(static_cast<std::uint32_t>(found_.meetings.size()));
            const auto members = static_cast<std::uint32_t>(program_.groups[group].size());
            for (std::uint32_t n = 0; n < calls[group]; ++n) {
                found_.meetings.push_back({static_cast<std::uint32_t>(found_.parties.size()), members});
                found_.parties.resize(found_.parties.size() + members, no_meeting);
            }
        }
        each_collective([&](std::uint32_t group, std::uint32_t place, std::uint32_t n, std::uint32_t at) {
            found_.of_node[at] = first_meeting[group] + n;
            found_.parties[found_.meetings[first_meeting[group] + n].first + place] = at;
        });
        for (std::uint32_t group = 0; group < calls.size(); ++group) {
            for (std::uint32_t n = 0; n < calls[group]; ++n) {
                if (!is_agreed(group, found_.meetings[first_meeting[group] + n])) break;  // what follows is off by one
            }
        }
    }

    template <class See>  // see(group, place of the rank in it, how many calls of it came before, node)
    void each_collective(See see) {
        for (std::size_t i = 0; i < program_.ranks.size(); ++i) {
            for (auto& [group, place] : places_[i]) place.calls = 0;
            std::uint32_t at = found_.first_node[i];
            for (const RecordedNode& node : rank(i).nodes) {
                if (node.kind == RecordedKind::collective) {
                    Place& place = places_[i].at(node.partner);
                    see(node.partner, place.place, place.calls++, at);
                }
                ++at;
            }
        }
    }

    bool is_agreed(std::uint32_t group, const Meeting& meeting) {
        const std::span<const std::uint32_t> parties = found_.of(meeting);
        const auto one = *std::ranges::find_if(parties, [](std::uint32_t at) { return at != no_meeting; });
        const RecordedNode& first = node(one);
        for (std::size_t place = 0; place < parties.size(); ++place) {
            if (parties[place] == no_meeting) {
                mistake(one, fmt::format("rank {} of its group {} makes no call that it could meet",
                                         program_.groups[group][place], ranks_text(group)));
                return false;
            }
            const RecordedNode& other = node(parties[place]);
            if (other.op != first.op) {
                mistake(parties[place],
                        fmt::format("is {}, where {} is {}", name(other.op), called(one), name(first.op)));
                return false;
            }
            if (other.bytes != first.bytes) {
                mistake(parties[place], fmt::format("is of {:.0f} bytes, where {} is of {:.0f}", other.bytes.value,
                                                    called(one), first.bytes.value));
                return false;
            }
        }
        return true;
    }

    // From one rank to another, with a tag.
    struct Message {
        std::uint32_t from = 0, to = 0, tag = 0, node = 0;
        auto key() const { return std::tuple(from, to, tag); }
        auto operator<=>(const Message&) const = default;
    };

    void match_messages() {
        std::vector<Message> sends, receives;
        for (std::uint32_t i = 0; i < program_.ranks.size(); ++i) {
            std::uint32_t at = found_.first_node[i];
            for (const RecordedNode& node : rank(i).nodes) {
                if (node.kind == RecordedKind::send) sends.push_back({i, node.partner, node.tag, at});
                if (node.kind == RecordedKind::receive) receives.push_back({node.partner, i, node.tag, at});
                ++at;
            }
        }
        std::ranges::sort(sends);
        std::ranges::sort(receives);
        auto receive = receives.begin();
        for (const Message& send : sends) {
            for (; receive != receives.end() && receive->key() < send.key(); ++receive) lacks_send(*receive);
            if (receive == receives.end() || receive->key() != send.key()) {
                mistake(send.node, fmt::format("rank {} receives nothing from rank {} with tag {} that it could be",
                                               send.to, send.from, send.tag));
                continue;
            }
            if (node(receive->node).bytes < node(send.node).bytes) {
                mistake(receive->node,
                        fmt::format("takes {:.0f} bytes, where {} sends {:.0f}", node(receive->node).bytes.value,
                                    called(send.node), node(send.node).bytes.value));
            }
            const auto meeting = static_cast<std::uint32_t>(found_.meetings.size());
            found_.of_node[send.node] = found_.of_node[receive->node] = meeting;
            found_.meetings.push_back({static_cast<std::uint32_t>(found_.parties.size()), 2});
            found_.parties.insert(found_.parties.end(), {send.node, receive->node});
            ++receive;
        }
        std::for_each(receive, receives.end(), [this](const Message& left) { lacks_send(left); });
    }

    void lacks_send(const Message& receive) {
        mistake(receive.node, fmt::format("rank {} sends nothing to rank {} with tag {} that it could be", receive.from,
                                          receive.to, receive.tag));
    }

    struct Place {
        std::uint32_t place = 0, calls = 0;
    };
    const RecordedProgram& program_;
    Meetings found_;
    RecordedMistakes mistakes_;
    std::vector<std::unordered_map<std::uint32_t, Place>> places_;  // by rank: in each of its groups
};

}  // namespace

std::uint32_t Meetings::rank_of(std::uint32_t node) const {
    const auto past = std::upper_bound(first_node.begin(), first_node.end() - 1, node);
    return static_cast<std::uint32_t>(past - first_node.begin() - 1);
}

Meetings meet(const RecordedProgram& program) { return Matcher(program).run(); }

}  // namespace weft
