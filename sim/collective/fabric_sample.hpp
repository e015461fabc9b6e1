// Some of a machine's links that tell as much as all of them: of nodes, and of subtrees of switches, that the same
// messages pass in the same places, one is in the sample and stands for the others. On a RouteTree, what links of a
// subtree carry follows from which messages pass it, so nothing is lost: every set of loads that some link has is had
// by a link of the sample, for all messages at once.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/group_row.hpp"
#include "sim/network/link_weights.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class FabricSample {
  public:
    explicit FabricSample(const Topology& topology);  // whose router is a tree

    // Counts the messages of a phase in all groups of a row. `communicator` is laid through the first; the channels of
    // the others are these, moved.
    void count(const GroupRow& row, const Communicator& communicator, const Phase& phase);
    // Takes one subtree of those that the same messages pass. After all counting, before anything below.
    void choose();

    // How many subtrees that of the sample stands for, itself included; 0 for one that is not in the sample.
    std::uint32_t weight(std::uint32_t tier, std::uint32_t subtree) const { return weight_[tier][subtree]; }
    LinkWeights link_weights() const;
    // Whether a message to another node passes switches whose links above are in the sample.
    bool touches_switches(RankId from, RankId to) const;

  private:
    // The messages that pass a subtree: a sum of two hashes of each, which does not depend on their order. Subtrees
    // with different messages are taken for alike once in 2^128.
    struct Passing {
        std::uint64_t a = 0, b = 0;
        bool operator==(const Passing&) const = default;
        Passing& operator+=(const Passing& other) {
            a += other.a;
            b += other.b;
            return *this;
        }
    };
    struct Message {
        RankId from{}, to{};
        std::uint64_t channel = 0, kind = 0;
    };
    static Passing hash(std::uint64_t kind, std::uint64_t message);
    // Messages are mostly like those before.
    struct LastHash {
        std::uint64_t kind = 0, message = 0;
        Passing known{};  // all zero at first: no hash
        Passing hash(std::uint64_t of_kind, std::uint64_t of_message) {
            if (known == Passing{} || of_kind != kind || of_message != message) {
                *this = {of_kind, of_message, FabricSample::hash(of_kind, of_message)};
            }
            return known;
        }
    };
    Passing leaving(const Message& message, const Climb& climb);
    Passing entering(const Message& message, const Climb& climb);
    std::map<std::uint32_t, Passing> with_turns_at_leaf(std::map<std::uint32_t, Passing> nodes,
                                                        const std::vector<Message>& messages);
    void count_across(const GroupRow& row, std::uint32_t across, const std::vector<Message>& messages);
    void count_on_switches(const Message& message);
    void end_group();
    void pass(std::uint32_t tier, std::uint32_t subtree, const Passing& passing);

    const Topology& topology_;
    const RouteTree& tree_;
    std::vector<std::vector<Passing>> passing_;       // by tier, by subtree
    std::vector<std::vector<std::uint32_t>> weight_;  // likewise
    // On switches, the messages of one group are hashed together: what a group alone loads is told by them, too.
    struct Touched {
        std::uint32_t tier = 0, subtree = 0;
    };
    std::vector<std::vector<Passing>> own_;  // of the group being counted
    std::vector<Touched> touched_;           // where own_ has some
    LastHash leaving_, entering_;
    std::uint64_t kinds_ = 0;  // of messages counted so far
};

}  // namespace weft
