// Data files compiled into the program (see weft_embed in tools/cmake), so that it runs from anywhere.
#pragma once

#include <span>
#include <string_view>

namespace weft::embedded {

struct File {
    std::string_view name;  // "frontier"
    std::string_view path;  // "topologies/machines/frontier.json"
    std::string_view text;
};

std::string_view text_of(std::span<const File> files, std::string_view name);  // LogicError if none is called so

std::span<const File> catalog();             // models/catalog
std::span<const File> devices();             // models/devices
std::span<const File> model_keys();          // models/*/keys.json
std::span<const File> machines();            // topologies/machines
std::span<const File> tuners();              // topologies/tuners
std::span<const File> fabrics();             // topologies/fabrics
std::span<const File> study();               // workloads/study
std::span<const File> study_figures();       // tools/study/*.json
std::span<const File> jobs();                // workloads/jobs
std::span<const File> keys();                // workloads/keys
std::span<const File> validation();          // tests/validation/*.json
std::span<const File> validation_tables();   // tests/validation/*.csv
std::span<const File> schema_examples();     // tools/schema/examples
std::span<const File> schema_meanings();     // tools/schema/meanings
std::span<const File> page_scripts();        // tools/page/*.js
std::span<const File> page_styles();         // tools/page/*.css
std::span<const File> chart_scripts();       // tools/page/vendor/*.js
std::span<const File> chart_styles();        // tools/page/vendor/*.css
std::span<const File> slurm_scripts();       // tools/slurm/*.sh
std::span<const File> commands();            // tools/commands/*.help
std::span<const File> option_groups();       // tools/commands/*.options
std::span<const File> completion_scripts();  // tools/manual/*.completion
std::span<const File> chart_licenses();      // tools/page/vendor/*.license

}  // namespace weft::embedded
