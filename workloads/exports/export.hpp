// Jobs and machines of weft as the files of other tools: to launch a layout, to give a topology to a library. One
// constant in one file of workloads/exports per format, found by the build (weft_registry).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/job/job.hpp"

namespace weft {

struct ExportFormat {
    std::string_view name;   // "megatron"
    std::string_view title;  // "launch script of Megatron-LM"
    // Of a job, or of a machine; the other is nullptr. Throw ConfigError with everything that the format cannot say.
    std::string (*job)(const Study& study);
    std::string (*machine)(const Machine& machine);
};

namespace exports {
std::span<const ExportFormat* const> all();  // sorted by name
}

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
// Nodes by number, which a scheduler says and no file can.
void refuse_placement(const Study& study, Unsayable& unsayable);

// A job as the Bash arrays MODEL_ARGS, LAYOUT_ARGS and TRAINING_ARGS of Megatron-LM's pretrain_gpt.py, an argument a
// line. What they cannot say goes to `unsayable`.
std::string megatron_arguments(const Study& study, Unsayable& unsayable);

// Keys of a job that no file of another tool has, as comments that import_files() reads back: "# weft: key=value".
std::string own_keys(const Study& study, std::string_view framework);

}  // namespace weft
