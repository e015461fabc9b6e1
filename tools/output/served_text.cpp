#include "tools/output/served_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tools/output/text_table.hpp"
#include "workloads/needed_calls.hpp"

namespace weft {
namespace {

// On two ranks; what a framework does not have, it refuses.
constexpr std::array kinds = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"data", "layout.data=2"},
    {"ZeRO 1", "layout.data=2 zero=1"},
    {"ZeRO 2", "layout.data=2 zero=2"},
    {"ZeRO 3", "layout.data=2 zero=3"},
    {"tensor", "layout.tensor=2"},
    {"sequence", "layout.tensor=2 sequence_parallel=true"},
    {"context", "layout.context=2 context_method=ring"},
    {"Ulysses", "layout.context=2 context_method=all_to_all"},
    {"pipeline", "layout.pipeline=2"},
    {"expert", R"(layout.data=2 layout.expert=2 model.experts={"count":2,"top_k":1})"},
});

Document small_job(const std::string& machine, const std::string& framework, std::string_view settings) {
    Document job = Document::parse("check.json", R"({"model": {"layers": 2, "hidden": 128, "heads": 2,
        "vocabulary": 1024}, "batch": {"sequence": 128, "global": 4}})");
    job.assign("machine=" + machine);
    job.assign("framework=" + framework);
    for (std::size_t begin = 0; begin < settings.size();) {
        const std::size_t end = std::min(settings.find(' ', begin), settings.size());
        job.assign(settings.substr(begin, end - begin));
        begin = end + 1;
    }
    return job;
}

// "yes", "-" where the framework does not have it, or what is missing.
std::string verdict(const Library& library, const Document& job) {
    std::set<Collective> ops;
    try {
        ops = collectives_of(make_plan(read_study(job.copy())));
    } catch (const ConfigError&) {
        return "-";
    }
    std::vector<std::string_view> missing;
    for (const Collective op : ops) {
        if (!library.runs(op)) missing.push_back(name(op));
    }
    return missing.empty() ? "yes" : fmt::format("no {}", fmt::join(missing, ", "));
}

}  // namespace

std::string served_text(const std::string& name) {
    const MachineInfo machine = Machine::load(name).info();
    std::vector<std::string> header{"<library", "<framework"};
    for (const auto& [kind, settings] : kinds) header.push_back("<" + std::string(kind));
    TextTable table(header);
    for (const Library& library : machine.libraries) {
        for (const std::string& framework : framework_names()) {
            std::vector<std::string> row{library.name, framework};
            for (const auto& [kind, settings] : kinds) {
                row.push_back(verdict(library, small_job(name, framework, settings)));
            }
            table.add(std::move(row));
        }
    }
    return fmt::format("{}: fine: {} nodes of {} accelerators ({})\n\n{}", name, machine.nodes,
                       machine.accelerators_per_node, machine.device, table.text());
}

}  // namespace weft
