// Jobs and simulated steps of weft as the files of other tools: to launch a layout, to look at a step or replay it. One
// constant in one file of workloads/exports per format, found by the build (weft_registry).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/table.hpp"
#include "workloads/job/job.hpp"

namespace weft {

class SimulatedRanks;

using FileWriter = std::function<void(const std::string& name, std::string_view content)>;

struct ExportFormat {
    std::string_view name;   // "megatron"
    std::string_view title;  // "launch script of Megatron-LM"
    // Of a job or of a simulated step; the other is nullptr. Throw ConfigError with everything that the format cannot
    // say.
    std::string (*job)(const Study& study) = nullptr;
    // The files that go into one folder, by their names.
    void (*step)(SimulatedRanks& step, std::span<const RankId> ranks, const FileWriter& write) = nullptr;
};

namespace exports {
std::span<const ExportFormat* const> all();  // sorted by name
}

// More would be files that nobody opens. Throws ConfigError with what to do.
inline constexpr std::uint64_t most_exported_nodes = 10'000'000;
void check_exported_nodes(std::uint64_t nodes);

const ExportFormat& find_export(std::string_view name);  // throws ConfigError with the known names

// What a format cannot say of a job, all at once.
class Unsayable {
  public:
    explicit Unsayable(const Study& study) : job_(study.job.name) {}
    // `key` of the job, where `is` holds.
    void unless(bool sayable, std::string_view key, std::string message);
    void check() const;  // throws ConfigError

  private:
    std::string job_;
    std::vector<Diagnostic> found_;
};

// Terms of a model that launch configurations have no word for.
void refuse_rare_terms(const Transformer& model, Unsayable& unsayable);
// Layers that differ, and what they are made of beside plain attention, MLP and experts, for formats without a word.
void refuse_unlike_layers(const Transformer& model, Unsayable& unsayable);
// Nodes by number, which a scheduler says and no file can.
void refuse_placement(const Study& study, Unsayable& unsayable);

// The layers of a job for Megatron-LM: a model of one kind, whose sizes its flags give, and the flags that say what of
// it a layer has: a hybrid pattern, or lists of layers.
struct MegatronLayers {
    Transformer alike;
    std::vector<std::string> flags;
};
MegatronLayers megatron_layers(const Job& job, Unsayable& unsayable);

// A job as the Bash arrays MODEL_ARGS, LAYOUT_ARGS and TRAINING_ARGS of Megatron-LM's pretrain_gpt.py, or
// pretrain_mamba.py where layers are a hybrid pattern, an argument a line. What they cannot say goes to `unsayable`.
std::string megatron_arguments(const Study& study, Unsayable& unsayable);

// Keys of a job that no file of another tool has, as comments that import_files() reads back: "# weft: key=value".
std::string own_keys(const Study& study, std::string_view framework);

}  // namespace weft
