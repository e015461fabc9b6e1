#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/io/diagnostics.hpp"
#include "tests/fuzz/further.hpp"
#include "tests/fuzz/inputs.hpp"
#include "workloads/formats/format.hpp"

namespace weft::test {
namespace {

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string underscored(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '-', '_');
    return text;
}

FormatOptions options(const Format& format) {
    const bool of_amd = format.name == "rocm-smi";
    return {.machine = "dgx-h100",
            .nodes = 2,
            .model = "gpt-neox-125m",
            .vocabulary = 50257,
            .like = of_amd ? "frontier" : "dgx-h100",
            .variables = {},
            .overrides = {}};
}

void read_foreign(const Format& format, const std::string& path, const std::string& text) {
    const std::array files{SourceFile{path, text}};
    find_format(files.front());
    const Import import = import_files(format, files, options(format));
    if (import.has_errors()) return;
    switch (import.kind) {
        case FormatKind::job:
            return go_on_with(read_study(import.object.document(path)));
        case FormatKind::machine:
            return read_machine(import.object.json());
        case FormatKind::model:
            return read_model(import.object.json());
        case FormatKind::trace:
            return;
    }
}

}  // namespace

std::vector<InputKind> foreign_inputs() {
    std::vector<InputKind> kinds;
    for (const Format* const format : formats::all()) {
        for (const auto& entry : std::filesystem::directory_iterator(WEFT_TEST_DATA "/workloads/formats/seeds")) {
            const std::filesystem::path& path = entry.path();
            if (underscored(path.stem().string()) != underscored(format->name)) continue;
            const Syntax syntax = path.extension() == ".json" ? Syntax::json : Syntax::text;
            kinds.push_back(
                {std::string(format->name) + path.extension().string(),
                 syntax,
                 {text_of(path)},
                 [format, name = path.string()](const std::string& text) { read_foreign(*format, name, text); }});
        }
    }
    std::ranges::sort(kinds, {}, &InputKind::name);
    return kinds;
}

}  // namespace weft::test
