// Arguments of Megatron-LM in a launch script of Bash or a list of flags.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "sim/base/texts.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/formats/shell/shell.hpp"

namespace weft {
namespace {

using Words = std::vector<ShellWord>;

bool is_program(std::string_view word) { return word.ends_with(".py"); }

// Flags that no launcher and hardly another program has.
bool is_model_flag(std::string_view word) {
    const std::string key = megatron_name(word.substr(0, word.find('='))).key;
    return word.starts_with("--") &&
           (key == "num_layers" || key == "hidden_size" || key == "num_attention_heads" || key == "micro_batch_size" ||
            key == "tensor_model_parallel_size" || key == "encoder_num_layers");
}

// A command that is handed to a shell, or kept in quotes, is several words.
Words split_words(const Words& words) {
    Words all;
    for (const ShellWord& word : words) {
        const std::size_t flag = word.text.find("--");
        const bool several = flag != std::string::npos && word.text.find_first_of(" \n\t") != std::string::npos &&
                             (flag == 0 || std::isspace(static_cast<unsigned char>(word.text[flag - 1])) != 0);
        if (!several) {
            all.push_back(word);
            continue;
        }
        std::istringstream parts(word.text);
        for (std::string part; parts >> part;) all.push_back({part, word.line});
    }
    return all;
}

struct ScriptArguments {
    std::span<const SourceFile> files;
    MegatronInput& input;
    Import& import;
    std::vector<std::string> told{};

    void take(const ShellScript& script) {
        directives(script);
        std::vector<Words> listed, launched;
        bool certain = true;
        for (const ShellCommand& command : script.commands) {
            Words words = split_words(command.words);
            if (words.front().text.starts_with("--")) {
                listed.push_back(std::move(words));
            } else if (std::ranges::any_of(words, [](const ShellWord& w) { return is_model_flag(w.text); })) {
                launched.push_back(std::move(words));
                certain = command.certain;
            }
        }
        if (launched.empty()) {
            // A file that only sets variables, to be read by another.
            for (const Words& list : script.lists) {
                if (listed.empty() || !is_used(script, list)) launched.push_back(split_words(list));
            }
            listed.insert(listed.begin(), launched.begin(), launched.end());
        } else {
            if (launched.size() > 1 || !certain)
                import.note({.file = script.file, .line = launched.back().front().line, .key = "launch"},
                            launched.size() > 1 ? fmt::format("of {} launches the last is taken", launched.size())
                                                : "is taken, though a condition before it is not known");
            listed.push_back(std::move(launched.back()));
        }
        for (const Words& words : listed) flags(script, words);
    }

    static bool is_used(const ShellScript& script, const Words& list) {
        return std::ranges::any_of(script.commands, [&](const ShellCommand& command) {
            return std::ranges::find(command.words, list.front().text, &ShellWord::text) != command.words.end();
        });
    }

    void directives(const ShellScript& script) {
        for (const auto& [text, line] : script.directives) {
            const bool joined = text.size() > 2 && text.starts_with("-N") && is_digit(text[2]);  // "-N4"
            const std::size_t end = joined ? 2 : text.find_first_of("= \t");
            if (end == std::string::npos) continue;
            const std::size_t said = std::min(text.find_first_not_of("= \t", end), text.size());
            std::string name = text.substr(0, end), value = text.substr(said);
            value = value.substr(0, value.find_first_of(" \t#"));
            if (name == "-N") name = "--nodes";
            if (const std::size_t colon = value.rfind(':'); colon != std::string::npos) value.erase(0, colon + 1);
            launcher(script.file, {name, line}, value);
        }
    }

    // Launcher's options, the program, its flags.
    void flags(const ShellScript& script, const Words& words) {
        const auto own = std::ranges::find_if(words, [](const ShellWord& word) { return is_program(word.text); });
        const auto first_argument = own == words.end() ? 0 : static_cast<std::size_t>(own - words.begin());
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string& word = words[i].text;
            if (word == "|") return;  // of a command that was kept in quotes
            if (is_program(word)) program(script.file, words[i]);
            if (!word.starts_with("--") || word == "--") {
                const bool path = word.find('/') != std::string::npos || is_program(word);
                if (has_unknown(word) && !path) whole_word(script.file, words[i]);
                if (word == "-N" && i + 1 < words.size())
                    launcher(script.file, {"--nodes", words[i].line}, words[i + 1].text);
                continue;
            }
            const std::size_t at = i, equals = word.find('=');
            std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
            bool has_value = equals != std::string::npos;
            // Values go on to the next flag, but not over the program's name; a switch has none.
            const std::string key = megatron_name(word).key;
            const std::size_t most = equals != std::string::npos || is_megatron_switch(key) ? 0
                                     : is_megatron_list(key)                                ? words.size()
                                                                                            : 1;
            for (std::size_t taken = 0; taken < most && i + 1 < words.size() && !words[i + 1].text.starts_with("--") &&
                                        !is_program(words[i + 1].text);
                 ++taken) {
                value += (has_value ? " " : "") + words[++i].text;
                has_value = true;
            }
            const ShellWord name{word.substr(0, equals), words[at].line};
            const Origin place = place_of(script, name);
            if (i < first_argument && !is_megatron_flag(name.text)) {
                import.without_effect.push_back(place);  // of a launcher
                continue;
            }
            flag(place, name, value, has_value);
        }
    }

    // Where a flag is written, rather than where a variable brings it in.
    Origin place_of(const ShellScript& script, const ShellWord& name) const {
        Origin place{.file = script.file, .line = name.line, .key = name.text};
        std::size_t found = 0;
        for (const SourceFile& file : files) {
            for (std::size_t at = file.text.find(name.text); at != std::string::npos && found < 2;
                 at = file.text.find(name.text, at + 1)) {
                const std::size_t end = at + name.text.size();
                if (end < file.text.size() &&
                    std::string_view(" =\t\r\n\\\"'").find(file.text[end]) == std::string_view::npos)
                    continue;
                const auto line = static_cast<int>(
                    std::count(file.text.begin(), file.text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
                if (++found == 1) place = {.file = file.path, .line = line + 1, .key = name.text};
            }
        }
        return found == 1 ? place : Origin{.file = script.file, .line = name.line, .key = name.text};
    }

    void flag(const Origin& origin, const ShellWord& name, const std::string& value, bool has_value) {
        if (launcher(origin.file, {name.text, origin.line}, value)) return;
        if (!has_unknown(value)) return input.add(name.text, value, has_value, origin);
        std::vector<std::string> names = unknown_names(value);
        std::erase(names, "");
        input.add_unknown(megatron_name(name.text).key, std::move(names), origin);
    }

    void whole_word(const std::string& file, const ShellWord& word) {
        for (const std::string& name : unknown_names(word.text)) {
            if (name.empty() || std::ranges::find(told, name) != told.end()) continue;
            told.push_back(name);
            import.note({.file = file, .line = word.line, .key = "$" + name},
                        "is not set; what it would add is left out (--variable {}=VALUE)", name);
        }
    }

    // How many nodes and processes; whether it was that.
    bool launcher(const std::string& file, const ShellWord& option, const std::string& value) {
        const std::string key = megatron_name(option.text).key;
        const bool nodes = key == "nnodes" || key == "num_nodes" || key == "nodes";
        const bool ranks = key == "nproc_per_node" || key == "num_gpus" || key == "gpus_per_node" || key == "gres";
        if (!nodes && !ranks) return false;
        const Origin origin{.file = file, .line = option.line, .key = option.text};
        const std::uint32_t number = parse_as<std::uint32_t>(value).value_or(0);
        if (ranks) {
            if (number > 0) input.ranks_per_node = number;
        } else {
            input.nodes = number;
            input.nodes_origin = origin;
            input.unknown_nodes = unknown_names(value);
            std::erase(input.unknown_nodes, "");
        }
        return true;
    }

    void program(const std::string& file, const ShellWord& word) {
        const std::size_t slash = word.text.rfind('/');
        const std::string_view name = std::string_view(word.text).substr(slash == std::string::npos ? 0 : slash + 1);
        if (name.starts_with("pretrain_mamba") || name.starts_with("pretrain_hybrid")) {
            input.add("--is-hybrid-model", "", false, {.file = file, .line = word.line, .key = word.text});
        }
        for (const std::string_view other :
             {"pretrain_bert", "pretrain_t5", "pretrain_ict", "pretrain_retro", "pretrain_vision", "pretrain_vlm"}) {
            if (!name.starts_with(other)) continue;
            import.error({.file = file, .line = word.line, .key = word.text},
                         "trains another kind of model than a decoder of text");
        }
    }
};

// What Slurm would set, by what its directives ask for.
void set_slurm_variables(ShellVariables& variables, const SourceFile& file) {
    std::string nodes, tasks;
    for (const auto& [text, line] : cut_shell_text(file.path, file.text).directives) {
        for (const std::string_view name : {"--nodes=", "--nodes ", "-N ", "-N"}) {
            if (text.starts_with(name)) {
                nodes = text.substr(name.size());
                break;
            }
        }
        if (text.starts_with("--ntasks-per-node=")) tasks = text.substr(18);
    }
    nodes = nodes.substr(0, nodes.find_first_not_of("0123456789"));
    tasks = tasks.substr(0, tasks.find_first_not_of("0123456789"));
    const auto set = [&](const std::string& name, const std::string& value) {
        if (!value.empty() && !variables.is_set(name)) variables.assign(name, {value});
    };
    for (const char* const name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}) set(name, nodes);
    set("SLURM_NTASKS_PER_NODE", tasks);
}

void note_sourced(Import& import, std::span<const ShellScript> scripts) {
    for (const ShellScript& script : scripts) {
        for (const std::string& path : script.sourced) {
            const std::string name = path.substr(path.rfind('/') + 1);
            const bool given = std::ranges::any_of(
                scripts, [&](const ShellScript& each) { return std::string_view(each.file).ends_with(name); });
            if (given || has_unknown(path)) continue;
            import.note(in_file(script.file, "source " + path), "is not read; give the file, too");
        }
    }
}

}  // namespace

MegatronInput megatron_script_arguments(std::span<const SourceFile> files, const FormatOptions& options,
                                        Import& import) {
    MegatronInput input;
    input.file.file = files.back().path;
    ShellVariables variables(files.front().path, options.variables);
    std::vector<ShellScript> scripts;
    for (const SourceFile& file : files) {
        set_slurm_variables(variables, file);
        scripts.push_back(read_shell_script(file, variables));
    }
    ScriptArguments arguments{files, input, import};
    for (const ShellScript& script : scripts) arguments.take(script);
    note_sourced(import, scripts);
    input.environment_origin.file = files.back().path;
    for (const auto& [name, values] : variables.all()) {
        const std::string value = variables.value(name);
        const bool library = name.starts_with("NCCL_") || name == "CUDA_LAUNCH_BLOCKING";
        if (library && !has_unknown(value)) input.environment[name] = value;
    }
    return input;
}

}  // namespace weft
