// From a job file to a Study: every key, its default and its meaning.
#include "workloads/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/io/diagnostics.hpp"
#include "sim/io/document.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/job/job_reading.hpp"
#include "workloads/keys/key.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {
namespace {

// What the job writes out or names, a file from the job's folder or a shipped one; a failure is reported at its key.
template <class Thing>
std::optional<Thing> read_thing(Field& root, std::string_view key, std::span<const embedded::File> shipped,
                                std::string_view job, auto find) {
    if (root.is_object(key)) {
        const Thing* const written = find(root.object(key));
        return written == nullptr ? std::nullopt : std::optional(*written);
    }
    const std::string name = root.text(key);
    if (name.empty()) {
        if (root.is_text(key)) root.error(key, "expected a name, got \"\"");
        return std::nullopt;
    }
    try {
        const std::string file = meant(shipped, key, name, std::filesystem::path(job).parent_path());
        return find(std::string_view(file));
    } catch (const ConfigError& error) {
        error_at(root, key, error);
        return std::nullopt;
    }
}

std::optional<Device> read_device_of(Field& root, const MachineInfo& machine, const StudySources& sources) {
    try {
        return sources.device(machine.device);
    } catch (const ConfigError& error) {
        error_at(root, "machine", error);
        return std::nullopt;
    }
}

// An object whose keys other programs call by words of their own.
void read_section(Field section, std::string_view path, Job& job) {
    read_keys(section, path, job);
    section.done({{"", job_synonyms()}});
}

// Of axes together, so that no product of sizes that are read overflows.
constexpr std::uint64_t most_ranks = std::uint64_t{1} << 31;

// Whether axes that multiply are no more than ranks can be; otherwise reported, and each is 1.
void check_product(Field& layout, const std::vector<std::pair<std::string_view, std::uint32_t*>>& axes) {
    std::uint64_t product = 1;
    std::string text;
    for (const auto& [key, size] : axes) {
        product = std::min(product * *size, most_ranks + 1);
        text += fmt::format("{}{} {}", text.empty() ? "" : " x ", key, *size);
    }
    if (product <= most_ranks) return;
    layout.error("", "{} are more than {}", text, most_ranks);
    for (const auto& [key, size] : axes) *size = 1;
}

struct GivenAxes {
    bool data = false, expert_tensor = false;
};

GivenAxes read_layout(Field& root, Job& job) {
    if (!root.has("layout")) return {};
    Field field = root.object("layout");
    read_section(field, "layout", job);
    Layout& own = job.layout;
    std::vector<std::pair<std::string_view, std::uint32_t*>> axes;
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->ranks != Scheme::Ranks::shared) axes.emplace_back(scheme->axis, &own.size(scheme->axis));
    }
    check_product(field, axes);
    check_product(field, {{"pipeline", &own.pipeline}, {"virtual_stages", &own.virtual_stages}});
    check_product(field, {{"expert", &own.expert}, {"expert_tensor", &own.expert_tensor}});
    return {.data = field.has("data"), .expert_tensor = field.has("expert_tensor")};
}

void refuse_other_frameworks(Field& root, const Job& job) {
    for (const Framework* const other : framework::all()) {
        if (other == job.framework || !root.has(other->name)) continue;
        root.error(other->name, "settings of {}, but the framework is {}; they would have no effect", other->name,
                   job.framework->name);
    }
}

// Reports at a dotted path, e.g. "layout.tensor".
void report(Field root, const JobError& error) {
    const std::string message = error.message + (error.remedy.empty() ? "" : "; " + error.remedy);
    const std::size_t dot = error.key.find('.');
    if (dot == std::string::npos || !root.is_object(error.key.substr(0, dot))) {
        root.error(dot == std::string::npos ? error.key : error.key.substr(0, dot), message);
        return;
    }
    Field inner = root.object(error.key.substr(0, dot));
    inner.error(error.key.substr(dot + 1), message);
}

std::string stem(std::string_view path) { return std::filesystem::path(path).stem().string(); }

// The "library" of a job: one that the machine file has. check_calls() asks whether it has what a step calls.
std::string read_library(Field& root, const MachineInfo& machine) {
    const std::string name = root.text("library", "");
    if (name.empty()) return name;
    if (machine.find_library(name) == nullptr) {
        const auto known = list_of<std::string>(machine.libraries, &Library::name);
        root.error("library", "{} has no library \"{}\"{} (known: {})", machine.name, name, suggestion(name, known),
                   fmt::join(known, ", "));
    }
    return name;
}

// What the device has not. Units that take the scales of blocks came with those for fp4 (Transformer Engine's supported
// devices: SM 10.0 and 10.3); elsewhere blocks of 128 are scaled by the program.
void check_device(Field& root, const Job& job, const Device& device, std::string_view machine) {
    const auto refuse = [&](std::string_view key, std::string_view what) {
        root.error(key, "{} ({}) has no {}", device.name, machine, what);
    };
    const bool eighth = job.precision == Precision::fp8, has_quarter = device.peak_quarter.value > 0.0;
    if (eighth && device.peak_eighth.value == 0.0) {
        refuse("precision", "fp8");
    } else if (job.precision == Precision::fp4 && !has_quarter) {
        refuse("precision", "fp4");
    } else if (eighth && job.recipe == Casting::mxfp8 && !has_quarter) {
        refuse("fp8_recipe", "matrix units that take the scales of blocks (mxfp8)");
    }
    if (job.megatron.eighth_attention == Setting::on && device.attention_eighth.forward == 0.0) {
        refuse("megatron.fp8_attention", "measured rate of attention in 8 bits");
    }
    if (job.communication_units < device.gemm.compute_units) return;
    root.error("communication_units", "expected fewer than the {} compute units of {}, got {}",
               device.gemm.compute_units, device.name, job.communication_units);
}

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

Study read_study(Document document, Purpose purpose) {
    return read_study(std::move(document), purpose, StudySources{});
}

Study read_study(Document document, Purpose purpose, const StudySources& sources) {
    Field root = document.root();
    Job job;
    job.name = stem(document.name());
    std::optional<Machine> machine =
        read_thing<Machine>(root, "machine", embedded::machines(), document.name(),
                            [&](const auto& what) -> decltype(auto) { return sources.machine(what); });
    AskedSize asked;
    if (root.has("nodes")) asked.nodes = root.count("nodes");
    if (root.has("gpus")) asked.gpus = root.count("gpus");
    // What was read without a mistake is checked further, so that one run finds as much as it can.
    const bool nodes_readable = !document.has_errors();
    const std::optional<Transformer> model =
        read_thing<Transformer>(root, "model", embedded::catalog(), document.name(),
                                [&](const auto& what) -> decltype(auto) { return sources.model(what); });
    if (model) job.model = *model;
    const GivenAxes given = read_layout(root, job);
    read_section(root.object("batch"), "batch", job);
    const bool readable = !document.has_errors();
    read_keys(root, "", job);
    const bool as_torchtitan = job.framework->name == "fsdp" && job.fsdp.version == 2 && job.layout.tensor > 1;
    if (as_torchtitan && !root.has("sequence_parallel")) job.sequence_parallel = SequenceParallel::on;  // nothing else
    refuse_other_frameworks(root, job);
    job.library = machine ? read_library(root, machine->info()) : root.text("library", "");
    // Read when machine and nodes are known.
    const bool has_fabric = root.has("fabric"), has_faults = root.has("faults");
    root.done({{"", job_synonyms()}, {"model", model_synonyms()}});
    // Without experts there is nothing to cut: groups of expert ranks are then whatever data parallelism has.
    if (model && model->experts.count == 0 && !given.expert_tensor) job.layout.expert_tensor = 1;
    if (!machine) document.check();  // which throws
    asked.data = given.data;
    if (nodes_readable) machine = settle_size(root, asked, *machine, job);
    if (has_fabric && nodes_readable) {
        job.fabric = read_fabric(root.object("fabric"), machine->info(), job.nodes,
                                 std::filesystem::path(document.name()).parent_path());
    }
    if (has_faults && readable) {
        ReadFaults read = read_faults(root.object("faults"), *machine, job);
        job.faults = std::move(read.faults);
        job.fabric.link_faults = std::move(read.links);
    }
    job.ranks_per_node = machine->info().accelerators_per_node;
    settle_groups(job);
    if (model && readable && purpose == Purpose::simulation) {
        for (const JobError& error : check_job(job, machine->info())) report(root, error);
    }
    if (model && !document.has_errors()) job.packing = packed_attention(job);
    std::optional<Device> device = read_device_of(root, machine->info(), sources);
    if (device && machine->info().host_operation.value > 0) device->host_launch = machine->info().host_operation;
    if (device) check_device(root, job, *device, machine->info().name);
    document.check();
    return {job, *machine, *device};
}

Study load_study(const std::filesystem::path& path, std::span<const std::string> overrides, Purpose purpose) {
    return read_study(open_job(path, overrides).document, purpose);
}

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
