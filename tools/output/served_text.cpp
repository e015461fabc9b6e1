#include "tools/output/served_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tools/output/text_table.hpp"
#include "workloads/plan/needed_calls.hpp"

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

ServedKind kind_served(const Library& library, std::string_view kind, const Document& job) {
    ServedKind served{.kind = kind, .missing = std::nullopt};
    std::set<Collective> ops;
    try {
        ops = collectives_of(make_plan(read_study(job.copy())));
    } catch (const ConfigError&) {
        return served;
    }
    served.missing.emplace();
    for (const Collective op : ops) {
        if (!library.runs(op)) served.missing->push_back(name(op));
    }
    return served;
}

// "yes", "-" where the framework does not have it, or what is missing.
std::string verdict(const ServedKind& served) {
    if (!served.missing) return "-";
    return served.missing->empty() ? "yes" : fmt::format("no {}", fmt::join(*served.missing, ", "));
}

}  // namespace

Served served(const std::string& name) {
    Served served{.machine = Machine::load(name).info(), .rows = {}};
    for (const Library& library : served.machine.libraries) {
        for (const std::string& framework : framework_names()) {
            ServedRow row{.library = library.name, .framework = framework, .kinds = {}};
            for (const auto& [kind, settings] : kinds) {
                row.kinds.push_back(kind_served(library, kind, small_job(name, framework, settings)));
            }
            served.rows.push_back(std::move(row));
        }
    }
    return served;
}

std::string served_text(const std::string& name, const Served& served) {
    std::vector<std::string> header{"<library", "<framework"};
    for (const auto& [kind, settings] : kinds) header.push_back("<" + std::string(kind));
    TextTable table(header);
    for (const ServedRow& row : served.rows) {
        std::vector<std::string> cells{row.library, row.framework};
        for (const ServedKind& kind : row.kinds) cells.push_back(verdict(kind));
        table.add(std::move(cells));
    }
    const MachineInfo& machine = served.machine;
    return fmt::format("{}: fine: {} nodes of {} accelerators ({})\n\n{}", name, machine.nodes,
                       machine.accelerators_per_node, machine.device, table.text());
}

nlohmann::ordered_json served_json(const Served& served) {
    using Json = nlohmann::ordered_json;
    Json rows = Json::array();
    for (const ServedRow& row : served.rows) {
        Json kinds_of_row = Json::object();
        for (const ServedKind& kind : row.kinds) {
            Json& own = kinds_of_row[std::string(kind.kind)];
            own["served"] = kind.missing && kind.missing->empty();
            own["framework_has_it"] = kind.missing.has_value();
            own["missing"] = kind.missing.value_or(std::vector<std::string_view>{});
        }
        rows.push_back({{"library", row.library}, {"framework", row.framework}, {"kinds", std::move(kinds_of_row)}});
    }
    const MachineInfo& machine = served.machine;
    return {{"name", machine.name},
            {"nodes", machine.nodes},
            {"accelerators_per_node", machine.accelerators_per_node},
            {"device", machine.device},
            {"serves", std::move(rows)}};
}

}  // namespace weft
