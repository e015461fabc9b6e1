#include "tools/validate/run.hpp"

#include <fmt/format.h>
#include <boost/program_options/errors.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"
#include "tools/collective/collective.hpp"
#include "tools/endurance/run.hpp"
#include "topologies/machine.hpp"
#include "topologies/placement.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/job/job_reading.hpp"

namespace weft {
namespace {

std::optional<Machine> load_machine(Field& root) {
    const std::string name = root.text("machine");
    try {
        if (!name.empty()) return Machine::load(name);
    } catch (const ConfigError& error) {
        for (const Diagnostic& inner : error.diagnostics()) root.error("machine", inner.message);
    }
    return std::nullopt;
}

Collective read_op(Field& root) {
    const std::string text = root.text("op");
    const std::optional<Collective> op = find_collective(text);
    if (!op && root.is_text("op")) root.error("op", "no collective is called \"{}\"", text);
    return op.value_or(Collective{});
}

// The library's name; the machine's first if none is given.
std::string read_library(Field& root, const MachineInfo& machine) {
    const std::string name = root.text("library", machine.library().name);
    if (machine.find_library(name) == nullptr) root.error("library", "{} has no library \"{}\"", machine.name, name);
    return name;
}

SetLayout read_layout(Field& root, const MachineInfo* machine) {
    SetLayout layout;
    layout.ranks = root.count("ranks");
    layout.ranks_per_node = root.count("ranks_per_node", machine != nullptr ? machine->accelerators_per_node : 1);
    layout.groups = root.count("groups", 1);
    root.error_if(layout.ranks % layout.groups != 0, "groups", "{} ranks do not fill {} equal groups", layout.ranks,
                  layout.groups);
    if (machine == nullptr) return layout;
    root.error_if(layout.ranks_per_node > machine->accelerators_per_node, "ranks_per_node",
                  "a node of {} has {} accelerators, not {}", machine->name, machine->accelerators_per_node,
                  layout.ranks_per_node);
    root.error_if(layout.nodes() > machine->nodes, "ranks", "{} has {} nodes, not {}", machine->name, machine->nodes,
                  layout.nodes());
    return layout;
}

// Where the nodes of the run are, if it tells their names or numbers.
void read_nodes(Field& root, const MachineInfo& machine, const SetLayout& layout, Fabric& fabric) {
    if (!root.has("node_list")) return;
    try {
        fabric.placement = parse_node_list("node_list", root.text("node_list"), machine);
    } catch (const ConfigError& error) {
        for (const Diagnostic& inner : error.diagnostics()) root.error("node_list", inner.message);
        return;
    }
    root.error_if(fabric.placement.size() != layout.nodes(), "node_list", "{} nodes, but {} ranks need {}",
                  fabric.placement.size(), layout.ranks, layout.nodes());
}

constexpr std::string_view prefix = "run.";

std::optional<Seconds> duration(Field& field, std::string_view key) {
    return field.has(key) ? std::optional(field.duration(key)) : std::nullopt;
}

RunTerms read_terms(Document document) {
    Field root = document.root(), run = root.object("run");
    RunTerms terms{.time = Seconds{run.number("days") * 86400},
                   .saving = run.flag("asynchronous", false) ? Saving::asynchronous : Saving::synchronous,
                   .interval = duration(run, "checkpoint_every"),
                   .detection = duration(run, "detection"),
                   .stop = duration(run, "stop"),
                   .launch = duration(run, "launch")};
    if (run.has("spares")) terms.spares = run.whole("spares");
    run.done();
    document.check();
    return terms;
}

double value_of(std::string_view quantity, const RunResult& result) {
    const std::string_view name = quantity.substr(prefix.size());
    if (name == "between_failures_s") return result.plan.between_failures.value;
    if (name == "checkpoint_s") return result.plan.run.write.value;
    if (name == "load_s") return result.plan.run.load.value;
    const auto mean = [&](std::string_view key) { return result.quantity(key).spread.mean; };
    if (name == "interruptions") return mean("restarts");
    if (name == "failures") return mean("hardware") + mean("software");
    for (const std::string_view key : {"goodput", "hardware", "software", "planned"}) {
        if (name == key) return mean(key);
    }
    throw RangeError("a run has no {}", quantity);
}

}  // namespace

Document row_document(const ValidationSet& set, const ValidationRow& row) {
    Document document = Document::parse(set.path, set.job);
    for_each_with_mistakes(row.cells, [&](const JobCell& cell) { document.assign(cell.key + "=" + cell.value); });
    return document;
}

std::string row_job(const ValidationSet& set, const ValidationRow& row) {
    auto job = nlohmann::ordered_json::parse(row_document(set, row).text());
    job.erase("run");  // options of another command
    const std::filesystem::path folder = std::filesystem::absolute(set.path).parent_path();
    for (const auto& [key, shipped] :
         {std::pair{"machine", embedded::machines()}, std::pair{"model", embedded::catalog()}}) {
        const auto named = job.find(key);
        if (named == job.end() || !named->is_string()) continue;
        const std::string name = meant(shipped, key, named->get<std::string>(), folder);
        *named = is_path(name) ? std::filesystem::path(name).lexically_normal().string() : name;
    }
    return job.dump();
}

std::string row_job_text(const ValidationSet& set, const ValidationRow& row) {
    const std::string job = row_job(set, row);
    std::string name = row.name;
    std::ranges::replace(name, '\n', ' ');
    return fmt::format("// {}: {}\n{}\n", set.name, name, nlohmann::ordered_json::parse(job).dump(2));
}

void RowErrors::add(const ValidationSet& set, const ValidationRow& row, const ConfigError& error) {
    for (const Diagnostic& found : error.diagnostics()) {
        // The place inside the row's job is of no use: the job was put together from two files.
        const bool common = found.file == set.path;
        const auto same = [&](const Entry& entry) {
            const Diagnostic& known = entry.diagnostic;
            return known.key == found.key && known.message == found.message &&
                   known.file == (common ? set.path : set.table_path);
        };
        if (const auto known = std::ranges::find_if(entries_, same); known != entries_.end()) {
            ++known->rows;
            continue;
        }
        entries_.push_back({.diagnostic = {.file = common ? set.path : set.table_path,
                                           .line = common ? 0 : row.line,
                                           .column = common ? 0 : 1,
                                           .key = found.key,
                                           .message = found.message},
                            .row = row.name});
    }
}

void RowErrors::check() const {
    if (entries_.empty()) return;
    std::vector<Diagnostic> diagnostics;
    for (const Entry& entry : entries_) {
        Diagnostic diagnostic = entry.diagnostic;
        diagnostic.message += fmt::format(" (row \"{}\"{})", entry.row,
                                          entry.rows > 1 ? fmt::format(" and {} more", entry.rows - 1) : "");
        diagnostics.push_back(std::move(diagnostic));
    }
    throw ConfigError(std::move(diagnostics));
}

CollectiveRequest read_collective(Document document) {
    Field root = document.root();
    std::optional<Machine> machine = load_machine(root);
    const MachineInfo* const info = machine ? &machine->info() : nullptr;
    const Collective op = read_op(root);
    const std::string library = info != nullptr ? read_library(root, *info) : root.text("library", "");
    const SetLayout layout = read_layout(root, info);
    const Bytes size = root.bytes("size");
    const Preference preference{.algorithm = root.text("algorithm", ""), .protocol = root.text("protocol", "")};
    const Calls calls =
        root.choice("calls", {"blocking", "queued"}, "blocking") == "queued" ? Calls::queued : Calls::blocking;
    Fabric fabric;
    const bool readable = !document.has_errors();
    if (root.has("fabric") && readable) {
        fabric = read_fabric(root.object("fabric"), *info, layout.nodes(),
                             std::filesystem::path(document.name()).parent_path());
    }
    if (readable) read_nodes(root, *info, layout, fabric);
    root.has("node_list");  // a key all the same
    root.done();
    document.check();
    CollectiveRequest request{.machine = *std::move(machine),
                              .op = op,
                              .layout = layout,
                              .fabric = fabric,
                              .preference = preference,
                              .calls = calls,
                              .messages = {size}};
    request.library = request.machine.info().find_library(library);
    return request;
}

Seconds collective_time(const CollectiveRequest& request) {
    try {
        // A copy of the request has a machine of its own, so the library is looked up there again.
        CollectiveRequest own = request;
        own.library = own.machine.info().find_library(request.library->name);
        return predict(own).front().time;
    } catch (const boost::program_options::error& error) {
        refuse_file({}, error.what());
    }
}

bool is_of_run(std::string_view quantity) { return quantity.starts_with(prefix); }

RunRequest read_run(const Document& document) {
    auto job = nlohmann::ordered_json::parse(document.text());
    job.erase("run");
    RunTerms terms = read_terms(document.copy());
    return {read_study(Document::parse(std::string(document.name()), job.dump())), std::move(terms)};
}

std::vector<double> predicted_run(const RunRequest& request, std::span<const PublishedValue> measured) {
    const Plan plan = make_plan(request.study);
    const Report step = make_report(simulate_step(request.study, plan));
    RunPlan run = plan_run(plan, {run_stretch(step, plan.job.batch.global, 0)}, request.terms);
    const RunResult result = played_run(std::move(run), std::nullopt, plan.job.layout.ranks());
    return list_of<double>(measured, [&](const PublishedValue& each) { return value_of(each.quantity, result); });
}

}  // namespace weft
