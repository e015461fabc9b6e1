#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/device/device.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "tests/fuzz/further.hpp"
#include "tests/fuzz/input_file.hpp"
#include "tests/fuzz/inputs.hpp"
#include "tests/workloads/studies.hpp"

namespace weft::test {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> texts(std::span<const embedded::File> files, std::string_view example) {
    std::vector<std::string> found;
    for (const embedded::File& file : files) {
        std::string text = Document::parse("seed", std::string(file.text)).text();
        // Lists of thousands of names say no more than short ones.
        if (text.size() < 60'000) found.push_back(std::move(text));
    }
    for (const embedded::File& file : embedded::schema_examples()) {
        if (file.name.starts_with(example)) {
            found.push_back(Document::parse("seed", std::string(file.text)).text());
        }
    }
    return found;
}

// A small job on up to two nodes, every rank a replica or a shard of one.
std::string job_on(const std::string& machine, const MachineInfo& info) {
    Json job{{"machine", machine},
             {"nodes", std::min(info.nodes, 2U)},
             {"model", {{"layers", 4}, {"hidden", 256}, {"heads", 8}, {"vocabulary", 1024}}},
             {"framework", "megatron"},
             {"layout", {{"tensor", 1}, {"pipeline", 1}}},
             {"batch", {{"sequence", 128}, {"micro", 1}}}};
    const std::uint64_t ranks = std::uint64_t{std::min(info.nodes, 2U)} * info.accelerators_per_node;
    const std::uint64_t tensor = ranks % 4 == 0 ? 4 : 1;
    job["layout"]["tensor"] = tensor;
    job["layout"]["data"] = ranks / tensor;
    job["batch"]["global"] = ranks / tensor * 2;
    return job.dump();
}

void read_device_file(const std::string& text) {
    static const Study small = small_study();
    Study study = small;
    study.device = load_device(file_of("device.json", text));
    go_on_with(study);
}

void read_tuner(const std::string& text) {
    go_on_with(small_study({"machine=dgx-a100", "machine.libraries[0].tuner=" + file_of("tuner.json", text)},
                           Purpose::simulation, sources_of_case()));
}

}  // namespace

void read_machine(const std::string& text) {
    const std::string path = file_of("machine.json", text);
    const StudySources& sources = sources_of_case();
    const MachineInfo& info = sources.machine(path).info();
    if (info.accelerators_per_node > 32 || info.nodes > 200'000) return;
    go_on_with(read_study(Document::parse("job.json", job_on(path, info)), Purpose::simulation, sources));
}

void read_model(const std::string& text) {
    go_on_with(small_study({"model=" + file_of("model.json", text), "layout.tensor=1", "layout.pipeline=1",
                            "layout.data=4", "batch.global=8", "batch.sequence=256"},
                           Purpose::simulation, sources_of_case()));
}

std::vector<InputKind> machine_inputs() {
    return {{"machine", Syntax::json, texts(embedded::machines(), "machine"), read_machine, 8},
            {"device", Syntax::json, texts(embedded::devices(), "device"), read_device_file, 4},
            {"model", Syntax::json, texts(embedded::catalog(), "model"), read_model, 4},
            {"tuner", Syntax::json, texts(embedded::tuners(), "tuner"), read_tuner, 1}};
}

}  // namespace weft::test
