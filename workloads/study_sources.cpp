#include "workloads/study_sources.hpp"

#include "workloads/formats/job_file.hpp"

namespace weft {
namespace {

template <class Known, class Load>
const auto& find_or_load(Known& known, std::string_view name, Load load) {
    auto found = known.find(name);
    if (found == known.end()) {
        using Value = typename Known::mapped_type::element_type;
        found = known.emplace(std::string(name), std::make_unique<Value>(load(name))).first;
    }
    return *found->second;
}

}  // namespace

const Machine& StudySources::machine(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return find_or_load(machines_, name, Machine::load);
}

const Transformer& StudySources::model(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return find_or_load(models_, name, load_model);
}

const Device& StudySources::device(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return find_or_load(devices_, name, load_device);
}

}  // namespace weft
