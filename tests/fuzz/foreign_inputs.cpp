#include <algorithm>
#include <array>
#include <filesystem>

#include "sim/io/diagnostics.hpp"
#include "tests/fuzz/further.hpp"
#include "tests/fuzz/inputs.hpp"
#include "tests/workloads/formats/seeds.hpp"
#include "workloads/formats/format.hpp"

namespace weft::test {
namespace {

void read_foreign(const Format& format, const std::string& path, const std::string& text) {
    const std::array files{SourceFile{path, text}};
    find_format(files.front());
    const Import import = import_files(format, files, seed_options(format));
    if (import.has_errors()) return;
    switch (import.kind) {
        case FormatKind::job:
            return go_on_with(read_study(import.object.document(path), Purpose::simulation, sources_of_case()));
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
    for (const FormatSeed& seed : format_seeds()) {
        const std::string ending = std::filesystem::path(seed.file.path).extension().string();
        kinds.push_back({std::string(seed.format->name) + ending,
                         ending == ".json" ? Syntax::json : Syntax::text,
                         {seed.file.text},
                         [format = seed.format, name = seed.file.path](const std::string& text) {
                             read_foreign(*format, name, text);
                         }});
    }
    std::ranges::sort(kinds, {}, &InputKind::name);
    return kinds;
}

}  // namespace weft::test
