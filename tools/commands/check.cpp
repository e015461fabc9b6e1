// `weft check JOB`: reads and plans, simulates nothing.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/enumerators.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/files.hpp"
#include "sim/io/shipped.hpp"
#include "sim/io/units.hpp"
#include "tools/command.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/result_table.hpp"
#include "topologies/machine.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/plan/plan.hpp"

namespace weft::commands {
namespace {

using Json = nlohmann::ordered_json;

// What a machine file can serve: of each library, which frameworks with which kind of parallelism.

struct ServedRow {
    std::string library, framework;
    // By kind, the collectives that the library lacks for it; absent: the framework does not have this parallelism.
    std::vector<std::optional<std::vector<std::string_view>>> missing{};
};

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
    for (const std::string_view each : parts_of(settings, ' ')) job.assign(each);
    return job;
}

std::optional<std::vector<std::string_view>> missing_for(Document job, const Library& library) {
    try {
        const auto is_missing = [&](Collective op) { return !library.runs(op); };
        return list_of_those<std::string_view>(collectives_of(make_plan(read_study(std::move(job)))), is_missing,
                                               [](Collective op) { return name(op); });
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

std::vector<ServedRow> served_by(const std::string& name, const MachineInfo& machine) {
    std::vector<ServedRow> served;
    for (const Library& library : machine.libraries) {
        for (const std::string& framework : framework_names()) {
            ServedRow& row = served.emplace_back(ServedRow{library.name, framework});
            for (const auto& [kind, settings] : kinds) {
                row.missing.push_back(missing_for(small_job(name, framework, settings), library));
            }
        }
    }
    return served;
}

// "yes", "-" where the framework does not have it, or what is missing.
std::string served_text(const std::vector<ServedRow>& served) {
    std::vector<std::string> header{"<library", "<framework"};
    for (const auto& [kind, settings] : kinds) header.push_back("<" + std::string(kind));
    TextTable table(header);
    for (const ServedRow& row : served) {
        std::vector<std::string> cells{row.library, row.framework};
        for (const auto& missing : row.missing) {
            cells.push_back(!missing           ? "-"
                            : missing->empty() ? "yes"
                                               : fmt::format("no {}", fmt::join(*missing, ", ")));
        }
        table.add(std::move(cells));
    }
    return table.text();
}

Json served_json(const std::vector<ServedRow>& served) {
    return json_list<Json>(served, [](const ServedRow& row) {
        Json of_row = Json::object();
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const auto& missing = row.missing[i];
            of_row[std::string(kinds[i].first)] = {{"served", missing && missing->empty()},
                                                   {"framework_has_it", missing.has_value()},
                                                   {"missing", missing.value_or(std::vector<std::string_view>{})}};
        }
        return Json{{"library", row.library}, {"framework", row.framework}, {"kinds", std::move(of_row)}};
    });
}

Json machine_json(const MachineInfo& machine) {
    return {{"name", machine.name},
            {"nodes", machine.nodes},
            {"accelerators_per_node", machine.accelerators_per_node},
            {"device", machine.device}};
}

// What was found: the exit code, and how people and programs are told.
struct Finding {
    Exit exit = Exit::ok;
    std::string text{};          // of what is fine on stdout, else on stderr
    Json json = Json::object();  // beside "ok", "kind" and "diagnostics"
    std::vector<Diagnostic> diagnostics{};
};

Finding check_job(const po::variables_map& arguments) {
    const OpenedJob opened = open_job(job_path(arguments), job_overrides(arguments));
    print_notes(opened.notes);
    const Study study = read_study(opened.document.copy());
    const Plan plan = make_plan(study);
    check_calls(plan);
    const Stage& fullest = plan.stages[plan.fullest_stage()];
    const std::vector<MemoryAdvice> advice = plan.fits() ? std::vector<MemoryAdvice>{} : memory_advice(study);
    const std::string name = job_path(arguments).empty() ? "command line" : job_path(arguments);
    Finding found;
    found.json = {{"memory", planned_memory_json(plan, advice)},
                  {"job", job_json(plan.job, plan.machine, job_record(arguments))},
                  {"notes", notes_json(opened.notes)}};
    if (plan.fits()) {
        found.text = fmt::format("{}: fine: {}, {} ranks on {} nodes of {}, fullest stage {} of {}\n", name,
                                 model_text(plan.job.model), plan.job.layout.ranks(), plan.job.nodes, plan.machine.name,
                                 to_text(fullest.memory.total()), to_text(plan.device.memory));
        return found;
    }
    found.exit = Exit::does_not_fit;
    const std::string why = obstacle(plan);
    found.text = fmt::format("{}: {}\n{}{}", name, why, memory_text(plan), advice_text(plan, advice));
    found.diagnostics.push_back({.file = name, .key = {}, .message = why});
    return found;
}

Finding check_machine(const std::string& name) {
    const MachineInfo machine = Machine::load(name).info();
    const std::vector<ServedRow> served = served_by(name, machine);
    Json json = machine_json(machine);
    json["serves"] = served_json(served);
    return {.text = fmt::format("{}: fine: {} nodes of {} accelerators ({})\n\n{}", name, machine.nodes,
                                machine.accelerators_per_node, machine.device, served_text(served)),
            .json = {{"machine", std::move(json)}}};
}

Finding check_model(const std::string& name, const Transformer& model, const std::vector<FormatNote>& notes) {
    return {.text = fmt::format("{}: fine: a model, {}: {} layers, hidden {}, {} heads, vocabulary {}\n", name,
                                model_text(model), model.own_layers(), model.hidden, model.heads, model.vocabulary),
            .json = {{"model", model_json(model)}, {"notes", notes_json(notes)}}};
}

// A machine that another tool's file comes to has no name yet to run jobs on.
Finding check_imported_machine(const std::string& path, const Format& format, const Import& import) {
    const MachineInfo machine = Machine::read(import.object.document(path)).info();
    return {.text = fmt::format("{}: fine: a machine ({}), {} nodes of {} accelerators ({}); weft import writes it\n",
                                path, format.title, machine.nodes, machine.accelerators_per_node, machine.device),
            .json = {{"machine", machine_json(machine)}, {"notes", notes_json(import.notes)}}};
}

enum class Checked : std::uint8_t { job, machine, model, other_tools };

// By what a file of weft has that the others do not; a shipped machine or model by its name. What extends another is of
// its kind; `extensions`: how many led here, which end where files extend one another.
Checked kind_of(const std::string& name, int extensions = 0) {
    constexpr int most_extensions = 16;
    const bool is_machine = find_called(embedded::machines(), name) != nullptr;
    const std::string place =
        is_machine ? meant(embedded::machines(), "machine", name, {}) : meant(embedded::catalog(), "model", name, {});
    if (!is_path(place)) {
        if (is_machine) return Checked::machine;
        return find_called(embedded::catalog(), place) != nullptr ? Checked::model : Checked::job;
    }
    SourceFile file{name, read_text(name)};
    if (find_format(file) != nullptr) return Checked::other_tools;
    const Field root = Document::parse(name, std::move(file.text)).root();
    if (root.has("batch") || root.has("model")) return Checked::job;
    if (root.has("links") || root.has("libraries")) return Checked::machine;
    if (root.is_text("extends") && extensions < most_extensions) {
        const std::string base = Field(root).text("extends");
        const std::filesystem::path beside = std::filesystem::path(name).parent_path() / base;
        const Checked kind = kind_of(std::filesystem::exists(beside) ? beside.string() : base, extensions + 1);
        return kind == Checked::other_tools ? Checked::model : kind;
    }
    return root.has("hidden") || root.has("layers") ? Checked::model : Checked::job;
}

Finding check_other_tools(const po::variables_map& arguments, std::string_view& kind) {
    const std::string path = job_path(arguments);
    const std::array files{SourceFile{path, read_text(path)}};
    const Format& format = *find_format(files.front());
    const Import import = import_files(format, files, format_options(job_overrides(arguments)));
    kind = to_text(import.kind);
    if (import.kind == FormatKind::job) return check_job(arguments);
    print_notes(import.notes);
    if (import.kind == FormatKind::machine) return check_imported_machine(path, format, import);
    Document document = import.object.document(path);
    const Transformer model = read_transformer(document.root(), std::filesystem::path(path).stem().string());
    document.check();
    return check_model(path, model, import.notes);
}

Finding check(const po::variables_map& arguments, std::string_view& kind) {
    const std::string name = job_path(arguments);
    const Checked checked = name.empty() ? Checked::job : kind_of(name);
    if (checked == Checked::other_tools) return check_other_tools(arguments, kind);
    kind = enumerator_name(checked);
    if (checked == Checked::job) return check_job(arguments);
    if (!job_overrides(arguments).empty())
        throw OptionError("--set and its like: override keys of a job, not of a {}", kind);
    return checked == Checked::machine ? check_machine(name) : check_model(name, load_model(name), {});
}

std::string finding_json(const Finding& found, std::string_view kind) {
    Json json{{"ok", found.exit == Exit::ok},
              {"kind", kind.empty() ? Json() : Json(kind)},
              {"diagnostics", diagnostics_json(found.diagnostics)}};
    json.update(found.json);
    return json_text(json);
}

Answer run_check(const po::variables_map& arguments) {
    const bool as_json = given(arguments, "json");
    std::string_view kind;
    Finding found{.exit = Exit::bad_input};
    try {
        found = check(arguments, kind);
    } catch (const ConfigError& error) {
        if (!as_json) throw;
        found.diagnostics = error.diagnostics();
    } catch (const RangeError& error) {
        if (!as_json) throw;
        found.diagnostics = {{.file = job_path(arguments), .key = {}, .message = error.what()}};
    }
    if (as_json) return {finding_json(found, kind), found.exit};
    if (found.exit == Exit::ok) return {found.text};
    fmt::print(stderr, "{}", found.text);
    return {.exit = found.exit};
}

}  // namespace

extern const Command check{.name = "check", .run = run_check, .group = CommandGroup::inspect};

}  // namespace weft::commands
