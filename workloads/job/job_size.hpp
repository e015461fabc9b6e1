// How many nodes a job takes, and how many accelerators of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/io/document.hpp"
#include "topologies/machine.hpp"
#include "workloads/job/job.hpp"

namespace weft {

struct JobSize {
    std::uint32_t nodes = 1;
    std::uint32_t per_node = 1;  // accelerators
    bool operator==(const JobSize&) const = default;
};

// `ranks` on nodes of `whole` accelerators: whole nodes where these are filled, or one node; else of each node as many
// as the largest power of two, if that divides them (64 of the 72 of an NVLink domain); else nodes filled in order.
JobSize size_of(std::uint64_t ranks, std::uint32_t whole);

// What a job says of its size.
struct AskedSize {
    std::optional<std::uint32_t> nodes, gpus;
    bool data = false;  // whether the layout gives data ranks
};

// Job::assumed, and which groups straddle nodes that could hold them: a sentence each.
std::vector<std::string> remarks_on(const Job& job);

// Completes nodes and data ranks of a job whose layout is read, and gives the machine as it takes it: larger where its
// network grows, with nodes of which it takes a part. What that assumes is told in Job::assumed. Records mistakes.
Machine settle_size(Field& root, const AskedSize& asked, const Machine& machine, Job& job);

}  // namespace weft
