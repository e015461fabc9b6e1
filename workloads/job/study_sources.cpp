#include "workloads/job/study_sources.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "sim/io/extends.hpp"
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

// What is written is read once where the paths in it mean the same.
template <class Known, class Read>
auto find_or_read(Known& known, Field& written, Read read) -> decltype(known.begin()->second.get()) {
    const std::string folder = std::filesystem::path(written.document_name()).parent_path().string();
    const std::string key = written.as_json() + folder;
    const auto found = known.find(key);
    if (found != known.end()) return found->second.get();
    auto value = read(written);
    if (!value || written.has_errors()) return nullptr;
    using Value = typename Known::mapped_type::element_type;
    return known.emplace(key, std::make_unique<Value>(*std::move(value))).first->second.get();
}

std::optional<Transformer> read_model_written(Field written) {
    const std::optional<std::string> base = extend(written, open_model);
    return read_transformer(written, base ? changed_name(*base) : "inline");
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

const Machine* StudySources::machine(Field written) const {
    const std::lock_guard lock(mutex_);
    return find_or_read(machines_, written, [](Field field) { return Machine::read(std::move(field), ""); });
}

const Transformer* StudySources::model(Field written) const {
    const std::lock_guard lock(mutex_);
    return find_or_read(models_, written, read_model_written);
}

const Device& StudySources::device(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    return find_or_load(devices_, name, load_device);
}

}  // namespace weft
