// Arguments of Megatron-LM's training programs, whatever file they were in: a launch script, a list of flags, YAML of
// Megatron's functional tests, of Primus or, under its own names, of NeMo.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/formats/format.hpp"
#include "workloads/job/settings.hpp"

namespace weft {

// What the arguments come to, by the name that argparse keeps them under: "--disable-bias-linear" is
// "add_bias_linear": false.
struct MegatronInput {
    Draft keys;
    struct Unknown {
        std::vector<std::string> variables;  // that the value of a key needs
        Origin origin;
    };
    std::map<std::string, Unknown, std::less<>> unknown;          // by key
    std::map<std::string, std::string, std::less<>> environment;  // variables of the processes
    std::uint32_t nodes = 0;                                      // 0: not said
    std::uint32_t ranks_per_node = 0;                             // 0: not said
    Origin nodes_origin, environment_origin;
    std::vector<std::string> unknown_nodes;  // variables that the number of nodes needs
    Origin file;                             // the input as a whole
    std::size_t arguments = 0;

    // "--name" with its value; a flag alone has none.
    void add(std::string_view flag, std::string_view value, bool has_value, Origin origin);
    void add_json(std::string_view key, std::string json, Origin origin);
    void add_unknown(std::string_view key, std::vector<std::string> variables, Origin origin);
};

// What reading is about: the keys as an object whose mistakes are told at the places of the input. Only keys that the
// table says are read may be asked for.
struct MegatronReading {
    Import& import;
    Field keys;
    const FormatOptions& options;
    const MegatronInput& input;
    bool deepspeed = false;  // Megatron-DeepSpeed
    // Of weft's default and later ones the first that has all flags read so far.
    std::string_view version = MegatronSettings().version.name;

    bool has(std::string_view key) const;
    bool on(std::string_view key, bool otherwise = false);                    // a switch
    std::string word(std::string_view key, std::string_view otherwise = "");  // any value as text
    std::string lower(std::string_view key, std::string_view otherwise = "");
    double number(std::string_view key);        // 0 where it is not given
    std::uint32_t size(std::string_view key);   // 1 where it is not given, or less
    Origin origin(std::string_view key) const;  // of the input as a whole where it is not given
    Origin derived(std::string_view key, std::string_view how) const;
    // The first of the keys that is given, or the last.
    std::string_view first_of(std::initializer_list<std::string_view> names) const;

    // Gives the job's member at a path ("experts.overlap") its value because of a key.
    void put(std::string_view path, const auto& value, std::string_view key) { import.put(path, value, origin(key)); }
    bool take(std::string_view key, Draft& to, std::string_view name);  // a count, if it is given
    // The same, or its default because of another key.
    void take_or(Draft& to, std::string_view name, std::string_view key, std::uint64_t usual, std::string_view because);

    template <class... Args>
    void error(std::string_view key, fmt::format_string<Args...> message, Args&&... args) {
        import.error(origin(key), fmt::format(message, std::forward<Args>(args)...));
    }
    template <class... Args>
    void warn(std::string_view key, fmt::format_string<Args...> message, Args&&... args) {
        import.warn(origin(key), fmt::format(message, std::forward<Args>(args)...));
    }
    template <class... Args>
    void note(std::string_view key, fmt::format_string<Args...> message, Args&&... args) {
        import.note(origin(key), fmt::format(message, std::forward<Args>(args)...));
    }
    void needs(std::string_view since, std::string_view key);  // a version that has the key
};

// What the launch in Bash scripts or lists of flags is given, with the variables that they set one after another. Notes
// go to `import`.
MegatronInput megatron_script_arguments(std::span<const SourceFile> files, const FormatOptions& options,
                                        Import& import);
// Makes a job, or a model where nothing of a training run is said. What was `found` before is told first.
Import read_megatron_input(const MegatronInput& input, const FormatOptions& options, const Import& found);
// The same onto a job that another reader began, or will go on with.
void read_megatron_model(MegatronReading& reading, Draft& model);
void read_megatron_job(MegatronReading& reading);
// Of --hybrid-layer-pattern, or its older name: the letters of all layers and how many each part of the pipeline has;
// those of each prediction module. Without a key: none is given.
struct HybridPattern {
    std::string_view key;
    std::string layers;
    std::vector<std::uint32_t> stages;
    std::vector<std::string> predictions;
};
HybridPattern hybrid_pattern(MegatronReading& reading);
std::uint32_t megatron_layers(MegatronReading& reading);
// Kinds of layers, and what all layers have that plain ones have not; after the model's experts.
void read_megatron_layers(MegatronReading& reading, Draft& model);
// Layers on pipeline ranks; the version that what was found came with, empty: any.
std::string_view read_megatron_stages(MegatronReading& reading);
void read_megatron_settings(MegatronReading& reading);
void read_megatron_balancing(MegatronReading& reading);  // of experts
void read_megatron_recompute(MegatronReading& reading);  // of activations, and their copies on the host

// The name under which argparse keeps a flag, and what a flag without a value means: "no_rope_fusion" is
// {"apply_rope_fusion", "false"}.
struct MegatronName {
    std::string key;
    std::string_view json;  // "true" or "false"
};
MegatronName megatron_name(std::string_view flag);
bool is_megatron_flag(std::string_view flag);   // "--hidden-size", of the table
bool is_megatron_switch(std::string_view key);  // one that has no value
bool is_megatron_list(std::string_view key);    // one with several

// "([0]*3+[1]*58)": a list of Python of small whole numbers; empty if it is none.
std::vector<std::uint32_t> python_list(std::string_view text);

}  // namespace weft
