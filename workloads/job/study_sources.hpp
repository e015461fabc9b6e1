// What jobs name: machines, models and devices, each read once however many jobs name it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "models/device/device.hpp"
#include "models/transformer/transformer.hpp"
#include "topologies/machine.hpp"

namespace weft {

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

}  // namespace weft
