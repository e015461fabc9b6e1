#include "tools/plan/request.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/io/embedded.hpp"
#include "sim/io/shipped.hpp"
#include "workloads/keys/key.hpp"

namespace weft {
namespace {

const Knob* find_knob(const std::vector<Knob>& knobs, std::string_view key) {
    return first_of(knobs, [&](const Knob& each) { return each.key == key; });
}

Among parse_values(const Knob& knob, const Variation& variation) {
    Among among{knob.key, {}};
    for (const std::vector<std::string>& step : variation.steps) {
        const std::string& text = step.front();
        const std::optional<std::uint32_t> value = knob.parse(text);
        if (!value) {
            throw std::invalid_argument(fmt::format("{}: expected {}, got \"{}\"", knob.key,
                                                    knob.names.empty()
                                                        ? fmt::format("a whole number of at least {}", knob.neutral)
                                                        : fmt::format("one of {}", fmt::join(knob.names, ", ")),
                                                    text));
        }
        among.values.push_back(*value);
    }
    return among;
}

Document document_of(const PlanRequest& request) { return open_job(request.job, request.overrides).document; }

constexpr const char* split_key = "layout.split";

// Layers dealt by hand are no value of the knob; the job keeps them.
bool deals_by_hand(Document document) {
    Field root = document.root();
    if (!root.has("layout")) return false;
    Field layout = root.object("layout");
    const std::vector<std::string> names = key_of(split_key).words;
    return layout.has("split") &&
           !(layout.is_text("split") && std::ranges::find(names, layout.text("split")) != names.end());
}

// A job without a layout: every knob neutral, data parallelism over whatever accelerators there are.
Study read_base(const PlanRequest& request, const std::vector<Knob>& knobs, const std::vector<std::string>& others) {
    Document document = document_of(request);
    const bool by_hand = deals_by_hand(document.copy());
    for (const std::string& assignment : others) document.assign(assignment);
    if (!document.root().has("nodes")) {
        Document as_it_is = document_of(request);
        const Study whole = read_study(std::move(as_it_is), Purpose::equations);
        document.assign(fmt::format("nodes={}", whole.job.nodes));
    }
    for (const Knob& knob : knobs) {
        const bool may_be_said = knob.framework.empty() || document.root().has(knob.framework);
        if (may_be_said && !(by_hand && knob.key == split_key)) document.assign(knob.assignment(knob.neutral));
    }
    document.assign("layout.data=null");
    return read_study(std::move(document), Purpose::equations);
}

// The file's own word on what Knob::values would leave to the framework.
void keep_own(const PlanRequest& request, const std::vector<Knob>& knobs, std::vector<Among>& among) {
    Document document = document_of(request);
    Field root = document.root();
    const auto keep = [&](const char* key, const std::string& text) {
        if (std::ranges::find(among, key, &Among::key) != among.end()) return;
        among.push_back({key, {find_knob(knobs, key)->parse(text).value()}});
    };
    const auto keep_flag = [&](Field object, const char* name, const char* key) {
        if (object.has(name)) keep(key, object.flag(name) ? "true" : "false");
    };
    keep_flag(root, "overlap_gradients", "overlap_gradients");
    if (root.has("megatron")) {
        const Field megatron = root.object("megatron");
        keep_flag(megatron, "overlap_parameters", "megatron.overlap_parameters");
        keep_flag(megatron, "overlap_tensor", "megatron.overlap_tensor");
    }
    if (root.has("layout")) {
        Field layout = root.object("layout");
        if (deals_by_hand(document.copy())) {
            keep(split_key, std::string(split_by_hand));
        } else if (layout.has("split")) {
            keep(split_key, layout.choice("split", key_of(split_key).words));
        }
    }
    document.check();
}

void check_overrides(const PlanRequest& request, const std::vector<Knob>& knobs) {
    for (const std::string& assignment : request.overrides) {
        const std::string key = assignment.substr(0, assignment.find('='));
        if (find_knob(knobs, key) == nullptr) continue;
        throw std::invalid_argument(
            fmt::format("--set {}: is what is searched for; --fix {} leaves no choice", assignment, assignment));
    }
}

// A name that is a path is meant from the folder of the file that says it.
void move_path(nlohmann::ordered_json& json, const char* key, std::string_view kind,
               std::span<const embedded::File> shipped, const std::filesystem::path& from,
               const std::filesystem::path& to) {
    if (!json.contains(key)) return;
    if (json[key].is_object()) return move_path(json[key], "extends", kind, shipped, from, to);
    if (!json[key].is_string()) return;
    const std::string said = json[key].get<std::string>();
    const std::string name = meant(shipped, kind, said, from.parent_path());
    if (!is_path(name) || std::filesystem::path(said).is_absolute()) return;
    const std::filesystem::path there = std::filesystem::absolute(name).lexically_normal();
    std::string moved = there.lexically_proximate(std::filesystem::absolute(to).parent_path()).string();
    if (!is_path(moved)) moved = "./" + moved;
    json[key] = moved;
}

// Whether the job reader finds the same job without the key.
bool follows(const Document& document, const Study& study, const std::string& key) {
    const auto facts = [](const Job& job) {
        return std::tuple(job.nodes, job.layout.data, job.layout.expert_tensor, job.gradient_overlap);
    };
    Document without = document.copy();
    without.assign(key + "=null");
    try {
        return facts(read_study(std::move(without)).job) == facts(study.job);
    } catch (const ConfigError&) {
        return false;
    }
}

// Other layouts of the job can then be tried, on as many nodes.
void leave_out_what_follows(Document& document) {
    const Study study = read_study(document.copy());
    document.assign(fmt::format("nodes={}", study.job.nodes));
    for (const std::string key : {"layout.data", "layout.expert_tensor", "overlap_gradients"}) {
        if (follows(document, study, key)) document.assign(key + "=null");
    }
}

void erase_nulls(nlohmann::ordered_json& object) {
    if (object.contains("extends")) return;  // null removes what it extends there
    for (auto member = object.begin(); member != object.end();) {
        if (member->is_object()) erase_nulls(*member);
        member = member->is_null() ? object.erase(member) : std::next(member);
    }
}

std::filesystem::path beside(const PlanRequest& request) { return request.job.path.parent_path() / "best.json"; }

Study study_of(const PlanRequest& request, const std::string& job) {
    return read_study(Document::parse(beside(request).string(), job));
}

// Worth a try, the likeliest first.
std::vector<const ExportFormat*> formats_for(const Study& study, const ExportFormat* asked) {
    if (asked != nullptr) return {asked};
    const auto writes_jobs = [](const ExportFormat* format) { return format->job != nullptr; };
    auto formats = list_of_those<const ExportFormat*>(exports::all(), writes_jobs);
    std::stable_partition(formats.begin(), formats.end(),
                          [&](const ExportFormat* each) { return each->name == study.job.framework->name; });
    return formats;
}

}  // namespace

PlanSpace read_space(const PlanRequest& request) {
    const std::vector<Knob> knobs = search_knobs();
    check_overrides(request, knobs);
    std::vector<Among> among;
    std::vector<Variation> others;
    for (const Variation& variation : request.among) {
        const Knob* const knob = find_knob(knobs, variation.keys.front());
        if (knob == nullptr) {
            others.push_back(variation);
        } else if (std::ranges::find(among, knob->key, &Among::key) == among.end()) {
            among.push_back(parse_values(*knob, variation));
        } else {
            throw std::invalid_argument(fmt::format("{} is given twice", knob->key));
        }
    }
    keep_own(request, knobs, among);
    const SweepGrid grid(others);
    for (const std::string& key : grid.keys()) {
        if (key.starts_with("machine.") && grid.size() > 1) {
            throw std::invalid_argument(fmt::format("{}: one search is about one machine", key));
        }
    }
    std::vector<Study> bases;
    std::vector<std::vector<std::string>> assignments;
    for (std::size_t i = 0; i < grid.size(); ++i) {
        assignments.push_back(grid.overrides(i));
        bases.push_back(read_base(request, knobs, assignments.back()));
        const Study& first = bases.front();
        if (bases.back().machine.info().name != first.machine.info().name ||
            bases.back().job.nodes != first.job.nodes) {
            throw std::invalid_argument("one search is about one machine and one number of nodes");
        }
    }
    return {SearchSpace(std::move(bases), among), std::move(assignments)};
}

std::string job_text(const PlanRequest& request, const std::vector<std::string>& assignments,
                     const std::filesystem::path& path) {
    Document document = document_of(request);
    const bool by_hand = deals_by_hand(document.copy());
    for (const std::string& assignment : assignments) {
        const std::string key = assignment.substr(0, assignment.find('='));
        if (!(by_hand && key == split_key)) document.assign(assignment);
    }
    leave_out_what_follows(document);
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(document.text());
    erase_nulls(json);
    move_path(json, "machine", "machine", embedded::machines(), request.job.path, path);
    move_path(json, "model", "model", embedded::catalog(), request.job.path, path);
    std::string text = json.dump(2) + "\n";
    read_study(Document::parse(path.string(), text));
    return text;
}

std::string launch_text(const PlanRequest& request, const std::vector<std::string>& layout,
                        const ExportFormat& format) {
    return format.job(study_of(request, job_text(request, layout, beside(request))));
}

LaunchFiles launch_files(const PlanRequest& request, const std::vector<std::string>& layout,
                         const ExportFormat* asked) {
    LaunchFiles files{.job = job_text(request, layout, beside(request)), .format = {}, .launch = {}};
    const Study study = study_of(request, files.job);
    for (const ExportFormat* const format : formats_for(study, asked)) {
        try {
            files.launch = format->job(study);
            files.format = format->name;
            return files;
        } catch (const ConfigError& error) {
            if (files.launch.empty()) files.launch = error.what();
        }
    }
    return files;
}

}  // namespace weft
