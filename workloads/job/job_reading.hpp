// What is read of a job beside its keys: how many nodes it takes and how many accelerators of each; its fabric and
// faults.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/device/device.hpp"
#include "models/transformer/transformer.hpp"
#include "sim/io/document.hpp"
#include "topologies/machine.hpp"
#include "workloads/job/job.hpp"

namespace weft {

// What jobs name: machines, models and devices, each read once however many jobs name it.

// Any thread may ask. What is given lives as long as the sources and never changes; files are taken to stay as they
// are.
class StudySources {
  public:
    // By the name of a shipped one, or a path. Throw ConfigError as Machine::load() and the others do.
    const Machine& machine(std::string_view name) const;
    const Transformer& model(std::string_view name) const;
    const Device& device(std::string_view name) const;
    // Written in a job, or what differs from a named one (sim/io/extends). Null where mistakes were recorded.
    const Machine* machine(Field written) const;
    const Transformer* model(Field written) const;

  private:
    template <class Value>
    using Known = std::map<std::string, std::unique_ptr<const Value>, std::less<>>;

    mutable std::mutex mutex_;         // guards all three
    mutable Known<Machine> machines_;  // by name, or by what is written
    mutable Known<Transformer> models_;
    mutable Known<Device> devices_;
};

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

// The "fabric" and "faults" sections of a job file. Nodes and ranks of faults are those of the job, counted from 0.
// Records every error at its place. Paths are meant from `folder`.
Fabric read_fabric(Field section, const MachineInfo& machine, std::uint32_t nodes, const std::filesystem::path& folder);

struct ReadFaults {
    Faults faults;
    std::vector<LinkFault> links;  // for the fabric
};

// Records every error at its place. Of `job`, nodes, layout and fabric are known.
ReadFaults read_faults(Field section, const Machine& machine, const Job& job);

}  // namespace weft
