// Files of other tools, and what weft makes of them: a model, a job or a machine, each value with where it came from.
// One constant in one file of workloads/formats per format, found by the build (weft_registry).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/enumerators.hpp"
#include "sim/io/draft.hpp"

namespace weft {

enum class FormatKind : std::uint8_t { model, job, machine, trace };
inline std::string_view to_text(FormatKind kind) { return enumerator_name(kind); }

// A file that the user names, or that such a file refers to.
struct SourceFile {
    std::string path;
    std::string text;

    std::string_view name() const;  // without folders
};

// What the user says beside the files; empty or 0 where nothing is said. A file's own word yields to it.
struct FormatOptions {
    std::string machine{};
    std::uint32_t nodes = 0;
    std::uint32_t gpus = 0;  // accelerators, in place of nodes
    std::string model{};
    std::uint32_t vocabulary = 0;          // of the tokenizer, which training configurations name and do not count
    bool encoder = false;                  // of images, beside the language model
    std::string like{};                    // the machine that an imported one is otherwise like
    std::vector<std::string> variables{};  // "NAME=VALUE" of a script
    std::vector<std::string> overrides{};  // "key.path=value" of what is made
    // Who sets it has looked at what the files say by own_assignments(), and no file is read that they name.
    bool alone = false;
};

// Something about the input that the user should know. An error is a key that would change the result and cannot be
// represented: nothing is made then.
struct FormatNote {
    enum class Severity : std::uint8_t { note, warning, error } severity = Severity::note;
    Origin origin;  // with the key
    std::string message;
};

struct FormatFact {
    std::string name;
    std::string json;
};

struct Import {
    FormatKind kind = FormatKind::job;
    Draft object;
    std::vector<FormatFact> facts;  // what was counted in the file; of models and jobs import_files() adds parameters
    std::vector<FormatNote> notes;  // with an error among them there is no object
    std::vector<Origin> without_effect;  // on time and memory

    using Severity = FormatNote::Severity;

    void note(Origin origin, std::string message) {
        notes.push_back({Severity::note, std::move(origin), std::move(message)});
    }
    void warn(Origin origin, std::string message) {
        notes.push_back({Severity::warning, std::move(origin), std::move(message)});
    }
    void error(Origin origin, std::string message) {
        notes.push_back({Severity::error, std::move(origin), std::move(message)});
    }
    template <class First, class... Rest>
    void note(Origin origin, fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest) {
        note(std::move(origin), fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
    }
    template <class First, class... Rest>
    void warn(Origin origin, fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest) {
        warn(std::move(origin), fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
    }
    template <class First, class... Rest>
    void error(Origin origin, fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest) {
        error(std::move(origin), fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
    }
    bool has_errors() const;

    // The member of what is made at a path ("experts.overlap"), in objects that are made where there are none.
    void put(std::string_view path, const auto& value, Origin origin) {
        Draft* to = &object;
        for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
            to = &to->object(path.substr(0, dot));
            path.remove_prefix(dot + 1);
        }
        to->set(path, value, std::move(origin));
    }
};

// Where a value came from that no file has written, in words: "GPT-NeoX's default".
inline Origin unwritten(std::string words) { return {.file = {}, .line = 0, .key = std::move(words)}; }
// A file as a whole, or what its lines do not tell.
inline Origin in_file(std::string file, std::string words = {}) {
    return {.file = std::move(file), .line = 0, .key = std::move(words)};
}

struct Format {
    std::string_view name;   // "deepspeed"
    std::string_view title;  // "DeepSpeed configuration"
    // Whether a file looks like it, by what is in it rather than by its name; of a cut or otherwise wrong file, too.
    bool (*recognises)(const SourceFile&);
    // One import of all files together, at least one. Throws ConfigError for syntax. nullptr: nothing is read.
    Import (*read)(std::span<const SourceFile>, const FormatOptions&);
    // What a second file is refused with; empty: several are read. Of what is not read: what it is, and what to do.
    std::string_view refusal{}, instead{};
};

namespace formats {
std::span<const Format* const> all();  // sorted by name
}

// "deepspeed (DeepSpeed configuration), goal (GOAL schedule)"
std::string titles(const auto& all) {
    const auto title = [](const auto* each) { return fmt::format("{} ({})", each->name, each->title); };
    return fmt::format("{}", fmt::join(list_of<std::string>(all, title), ", "));
}
// The format of a name. Throws ConfigError with the names of all.
const auto& find_named(const auto& all, std::string_view name) {
    if (const auto* const found = first_of(all, [&](const auto* each) { return each->name == name; })) return *found;
    const auto names = list_of<std::string>(all, [](const auto* each) { return each->name; });
    refuse_file({},
                fmt::format("unknown format \"{}\"{}; expected one of {}", name, suggestion(name, names), titles(all)));
}

std::vector<SourceFile> read_sources(std::span<const std::string> paths);  // throws ConfigError
// The format of a file; nullptr: of none that weft knows.
const Format* find_format(const SourceFile& file);
// The format that all files are of, or the one named `from`. Throws ConfigError, with the names of what is known.
const Format& format_of(std::span<const SourceFile> files, std::string_view from);

// Reads files of one format. Throws ConfigError with all that is wrong: in the files, and in what they come to as a
// model, job or machine of weft; errors among the notes, too.
Import import_files(const Format& format, std::span<const SourceFile> files, const FormatOptions& options);

// Keys of a job that no file of another tool has, in such a file: of each line that is a comment "# weft: key=value",
// that assignment, as --set takes it. (JSON, which has no comments, has them as an object "weft" of texts.)
std::vector<std::string> own_assignments(const SourceFile& file);

// Puts what a common training run has into a job, with a note on each that the options do not say: Megatron, bf16, 4 Mi
// tokens per step in sequences of 4,096, or of those learned positions (0: none) that are fewer.
void assume_run(Import& import, const FormatOptions& options, std::uint32_t positions = 0);

std::string to_text(const FormatNote& note);  // "run.sh:3: note: --fp8: ...", as compilers say it

}  // namespace weft
