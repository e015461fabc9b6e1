// Arguments of Megatron-LM and Megatron-core: launch scripts, lists of flags, model_config.yaml of the functional
// tests, Primus's YAML. Keys and defaults: NVIDIA/Megatron-LM megatron/training/arguments.py; for Primus AMD-AGI/Primus
// primus/configs. No script is run.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/io/files.hpp"
#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/formats/shell/shell.hpp"

namespace weft {

// Arguments of Megatron-LM in YAML: of its functional tests, and of Primus, where files extend one another.

namespace {

constexpr std::size_t most_files = 64;  // that one configuration is made of

// "${NAME:default}" as Primus has it, "${NAME}", "$NAME" and "${NAME:-default}" as a shell.
std::string shell_default(std::string text) {
    for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2)) {
        const std::size_t end = text.find_first_of(":}", at);
        if (end == std::string::npos || text[end] != ':') continue;
        const char next = end + 1 < text.size() ? text[end + 1] : '\0';
        if (next != '-' && next != '=' && next != '+' && next != '?') text.insert(end + 1, "-");
    }
    return text;
}

// Takes keys of YAML over, with the variables in their values filled in.
class YamlArguments {
  public:
    YamlArguments(MegatronInput& input, const FormatOptions& options)
        : input_(input), variables_("", options.variables) {}

    void take(Field& from, const std::string& key, bool flags) {
        const Origin origin = from.origin(key);
        if (!from.has(key)) {
            if (!flags) input_.add_json(megatron_name(key).key, "null", origin);
            return;
        }
        if (!from.is_text(key)) return take_value(from, key, flags, origin);
        const std::string written = from.text(key);
        const std::string filled = contains(written, "$") ? text(written, origin.line) : written;
        if (!has_unknown(filled)) return input_.add(key, filled, true, origin);
        input_.add_unknown(megatron_name(key).key, unknown_names(filled), origin);
    }

    // A text as it is, with its variables filled in.
    std::string text(const std::string& written, int line) { return variables_.text(shell_default(written), line); }

  private:
    void take_value(Field& from, const std::string& key, bool flags, const Origin& origin) {
        const MegatronName name = megatron_name(key);
        std::string json = from.member(key).as_json();
        if (from.is_flag(key) && (flags || name.json == "false")) {
            // A flag that is false is not given; one that switches off says so of what it is about.
            if (!from.flag(key) && flags) return input_.add_json(name.key, "null", origin);
            if (name.json == "false") json = from.flag(key) ? "false" : "true";
        }
        input_.add_json(name.key, std::move(json), origin);
    }

    MegatronInput& input_;
    ShellVariables variables_;
};

// A model or an experiment of Primus; what it extends is read from beside it, or is among `files`. Throws ConfigError
// for files that extend themselves or are not there.
class Primus {
  public:
    Primus(std::span<const SourceFile> files, const FormatOptions& options, Import& import)
        : files_(files), import_(import), is_alone_(options.alone), values_(input_, options) {}

    MegatronInput read() {
        const SourceFile& own = files_.back();
        input_.file.file = own.path;
        take_file(own);
        return std::move(input_);
    }

  private:
    [[noreturn]] static void fail(const Origin& at, std::string message) {
        throw ConfigError({Diagnostic{.file = at.file, .line = at.line, .key = at.key, .message = std::move(message)}});
    }

    void take_file(const SourceFile& file) {
        Document document = parse_yaml(file.path, file.text);
        Field root = document.root();
        open_.push_back(std::filesystem::path(file.path).lexically_normal().string());
        for (const std::string_view key : {"extends", "includes", "bases"}) {
            if (root.has(key)) take_bases(file, root, std::string(key));
        }
        if (root.has("modules")) {
            Field modules = root.object("modules");
            take_modules(file, modules);
            for (const std::string& key : root.keys()) {
                if (key != "modules") import_.without_effect.push_back(root.origin(key));
            }
        } else {
            take_keys(root);
        }
        document.check();
        open_.pop_back();
    }

    void take_keys(Field& from) {
        for (const std::string& key : from.keys()) {
            if (key == "extends" || key == "includes" || key == "bases") continue;
            // Megatron-LM's own YAML (--yaml-cfg) has its keys in groups.
            if ((key == "language_model" || key == "model_parallel") && from.is_object(key)) {
                Field group = from.object(key);
                take_keys(group);
            } else if (key == "activation_func" && from.is_text(key)) {
                const std::string function = from.text(key);
                if (function == "swiglu" || function == "geglu" || function == "silu")
                    input_.add_json("swiglu", function == "swiglu" ? "true" : "false", from.origin(key));
            } else {
                values_.take(from, key, false);
            }
        }
    }

    void take_bases(const SourceFile& file, Field& root, const std::string& key) {
        const std::vector<std::string> names = root.is_text(key) ? std::vector{root.text(key)} : texts(root.list(key));
        for (const std::string& name : names) take_named(file, root.origin(key), name, "");
    }

    // A pre-trainer: a file of defaults, a model, and what is otherwise.
    void take_modules(const SourceFile& file, Field& modules) {
        for (const std::string& name : modules.keys()) {
            if (name.find("trainer") == std::string::npos || !modules.is_object(name)) {
                import_.without_effect.push_back(modules.origin(name));
                continue;
            }
            Field module = modules.object(name);
            const std::string framework = module.text("framework", "megatron");
            if (framework != "megatron")
                fail(module.origin("framework"), "weft reads Primus's runs of Megatron-LM, not of " + framework);
            if (module.has("config")) take_named(file, module.origin("config"), module.text("config"), "modules");
            if (module.has("model")) take_named(file, module.origin("model"), module.text("model"), "models");
            if (module.has("overrides")) {
                Field overrides = module.object("overrides");
                take_keys(overrides);
            }
            if (module.has("name")) import_.without_effect.push_back(module.origin("name"));
            note_rest(import_, module);
        }
    }

    // A file beside this one; or in the folders that Primus keeps such files in.
    void take_named(const SourceFile& from, const Origin& origin, const std::string& written,
                    const std::string& folder) {
        const std::string name = values_.text(written, origin.line);
        if (has_unknown(name)) {
            const std::string variable = unknown_names(name).front();
            fail(origin, fmt::format("\"{}\" is not set; give --variable {}=VALUE", variable, variable));
        }
        if (++files_read_ > most_files) fail(origin, "is made of more files than any configuration");
        const auto given = std::ranges::find_if(files_, [&](const SourceFile& each) {
            return each.path != from.path && each.name() == std::filesystem::path(name).filename().string();
        });
        const std::filesystem::path path =
            given != files_.end() ? std::filesystem::path(given->path) : found(from.path, name, folder);
        if (path.empty()) fail(origin, fmt::format("\"{}\" is neither beside \"{}\" nor given", name, from.path));
        if (std::ranges::find(open_, path.lexically_normal().string()) != open_.end())
            fail(origin, fmt::format("\"{}\" extends itself", name));
        take_file(given != files_.end() ? *given : SourceFile{path.string(), read_text(path)});
    }

    std::filesystem::path found(const std::string& from, const std::string& name, const std::string& folder) const {
        if (is_alone_) return {};
        std::error_code ignored;
        std::filesystem::path parent = std::filesystem::path(from).parent_path();
        if (std::filesystem::is_regular_file(parent / name, ignored)) return parent / name;
        if (folder.empty()) return {};
        for (int up = 0; up < 8; ++up, parent /= "..") {
            const std::filesystem::path there = parent / "primus" / "configs" / folder / "megatron" / name;
            if (std::filesystem::is_regular_file(there, ignored)) return there;
        }
        return {};
    }

    std::span<const SourceFile> files_;
    Import& import_;
    bool is_alone_;
    MegatronInput input_;
    YamlArguments values_;
    std::vector<std::string> open_;  // files that are being read, outermost first
    std::size_t files_read_ = 0;
};

bool has_line(std::string_view text, std::string_view begin) {
    return text.starts_with(begin) || text.find("\n" + std::string(begin)) != std::string_view::npos;
}

bool is_test_configuration(std::string_view text) { return has_line(text, "MODEL_ARGS:"); }

// Keys of Megatron-LM that no other tool has at the outermost level.
bool is_primus(std::string_view text) {
    if (has_line(text, "extends:")) return true;
    if (has_line(text, "modules:") && text.find("pre_trainer:") != std::string_view::npos) return true;
    for (const std::string_view key :
         {"untie_embeddings_and_output_weights:", "num_query_groups:", "add_bias_linear:",
          "tensor_model_parallel_size:", "group_query_attention:", "moe_router_topk:", "moe_token_dispatcher_type:",
          "language_model:", "moe_router_force_load_balancing:", "num_attention_heads:", "ffn_hidden_size:"}) {
        if (has_line(text, key))
            return text.find("pipe_parallel_size") == std::string_view::npos &&
                   text.find("pipe-parallel-size") == std::string_view::npos;
    }
    return false;
}

// At least one flag that only these programs have, as a word.
bool is_script(std::string_view text) {
    for (const std::string_view flag :
         {"--num-layers", "--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--num-attention-heads",
          "--micro-batch-size", "--encoder-num-layers", "--num_layers", "--micro_batch_size", "--hidden-size"}) {
        for (std::size_t at = text.find(flag); at != std::string_view::npos; at = text.find(flag, at + 1)) {
            const std::size_t end = at + flag.size();
            const bool ends =
                end == text.size() || std::string_view(" =\t\r\n\\\"'$").find(text[end]) != std::string_view::npos;
            const bool begins = at == 0 || std::string_view(" =\t\n\"'(").find(text[at - 1]) != std::string_view::npos;
            if (begins && ends) return true;
        }
    }
    return false;
}

bool is_megatron_file(const SourceFile& file) {
    const std::string_view text = file.text;
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos || text[begin] == '{' || text[begin] == '<' ||
        text.substr(begin).starts_with("//"))
        return false;
    if (has_line(text, "trainer:") || has_line(text, "model:")) return false;  // NeMo's
    return is_test_configuration(text) || is_script(text) || is_primus(text);
}

// model_config.yaml of the functional tests: MODEL_ARGS and ENV_VARS.
MegatronInput megatron_test_arguments(const SourceFile& file, const FormatOptions& options, Import& import) {
    MegatronInput input;
    input.file.file = file.path;
    Document document = parse_yaml(file.path, file.text);
    Field root = document.root();
    Field arguments = root.object("MODEL_ARGS");
    YamlArguments values(input, options);
    for (const std::string& key : arguments.keys()) values.take(arguments, key, true);
    if (root.has("ENV_VARS")) {
        Field environment = root.object("ENV_VARS");
        input.environment_origin = root.origin("ENV_VARS");
        for (const std::string& name : environment.keys()) {
            if (!environment.has(name)) continue;
            std::string value = environment.member(name).as_json();
            std::erase(value, '"');
            input.environment[name] = value;
        }
    }
    for (const std::string_view key :
         {"TEST_TYPE", "LAUNCHER", "METRICS", "MODE", "BEFORE_SCRIPT", "AFTER_SCRIPT", "ENV", "TEST_TYPES"}) {
        if (root.has(key)) import.without_effect.push_back(root.origin(key));
    }
    note_rest(import, root);
    document.check();
    return input;
}

Import read_megatron_files(std::span<const SourceFile> files, const FormatOptions& options) {
    Import found;
    const SourceFile& last = files.back();
    const bool yaml = is_test_configuration(last.text) || !is_script(last.text);
    if (files.size() > 1 && is_test_configuration(last.text)) refuse_file(last.path, "is read alone");
    const MegatronInput input = is_test_configuration(last.text) ? megatron_test_arguments(last, options, found)
                                : yaml                           ? Primus(files, options, found).read()
                                                                 : megatron_script_arguments(files, options, found);
    return read_megatron_input(input, options, found);
}

}  // namespace

namespace formats {

extern const Format megatron{"megatron", "arguments of Megatron-LM", is_megatron_file, read_megatron_files};

}  // namespace formats
}  // namespace weft
