// A topology with what is known of the groups on it, for simulations that follow one another there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/topology/topology.hpp"
#include "topologies/machine.hpp"
#include "workloads/groups/families.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

// What a simulation finds does not depend on those before it. Not for several threads, and never moved: costs refer to
// the topology.
class PreparedTopology {
  public:
    // Remembers up to so many routed links (16 B each), and what one plan adds.
    static constexpr std::size_t most_links = std::size_t{1} << 23U;

    explicit PreparedTopology(Topology topology) : topology_(std::move(topology)) {}
    PreparedTopology(const PreparedTopology&) = delete;
    PreparedTopology& operator=(const PreparedTopology&) = delete;

    const Topology& topology() const { return topology_; }

    // Of the library as the plan calls it. Good until the next call, which may begin by forgetting everything.
    // Where nodes differ, channels depend on the groups that were laid before (ChannelPlanner reuses its searches),
    // so every plan starts afresh.
    CostsPool& costs(const Plan& plan) {
        const auto links = sum_of<std::size_t>(pools_, [&](const auto& pool) { return pool->routed_links(); });
        if (links > most_links || topology_.node_links == 0) pools_.clear();
        Library library = library_of(plan);
        const auto same = std::ranges::find_if(pools_, [&](const auto& pool) { return pool->library() == library; });
        if (same != pools_.end()) return **same;
        return *pools_.emplace_back(std::make_unique<CostsPool>(topology_, std::move(library)));
    }

    void forget() { pools_.clear(); }  // to make room

  private:
    const Topology topology_;
    std::vector<std::unique_ptr<CostsPool>> pools_;  // one per library
};

// Of the nodes and the fabric that the study asks for.
inline std::unique_ptr<PreparedTopology> prepare(const Study& study) {
    return std::make_unique<PreparedTopology>(study.machine.topology(study.job.nodes, study.job.fabric));
}

// Topologies for simulations that follow one another on the same part of a machine.

// What is taken belongs to the taker until it is put back, so that threads share nothing. Any thread may call.
class TopologyPool {
  public:
    // `most`: that lie unused; the one put back longest ago goes first.
    explicit TopologyPool(std::size_t most) : most_(most) {}

    // One that lies unused, or a new one. Throws as Machine::topology() does.
    std::unique_ptr<PreparedTopology> take(const Machine& machine, std::uint32_t nodes, const Fabric& fabric) {
        {
            const std::lock_guard lock(mutex_);
            const auto found = std::ranges::find_if(unused_, [&](const Unused& unused) {
                return unused.machine.is_copy_of(machine) && unused.nodes == nodes && unused.fabric == fabric;
            });
            if (found != unused_.end()) {
                std::unique_ptr<PreparedTopology> topology = std::move(found->topology);
                unused_.erase(found);
                return topology;
            }
        }
        return std::make_unique<PreparedTopology>(machine.topology(nodes, fabric));
    }

    // For the arguments that it was taken with.
    void put_back(const Machine& machine, std::uint32_t nodes, const Fabric& fabric,
                  std::unique_ptr<PreparedTopology> topology) {
        const std::lock_guard lock(mutex_);
        if (unused_.size() >= most_ && !unused_.empty()) unused_.erase(unused_.begin());
        if (most_ > 0) {
            unused_.push_back({.machine = machine, .nodes = nodes, .fabric = fabric, .topology = std::move(topology)});
        }
    }

  private:
    struct Unused {
        Machine machine;
        std::uint32_t nodes = 1;
        Fabric fabric;
        std::unique_ptr<PreparedTopology> topology;
    };

    std::size_t most_;
    std::mutex mutex_;  // guards unused_
    std::vector<Unused> unused_;
};

}  // namespace weft
