
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/io/units.hpp"
#include "tools/command.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/validation_text.hpp"
#include "tools/validate/scorecard.hpp"

namespace weft {

std::string obstacle(const ConfigError& error) {
    return comma_list(
        error.diagnostics(), [](const Diagnostic& each) { return each.key + ": " + each.message; }, "; ");
}

static std::string need_text(const Plan& plan) {
    return fmt::format("stage {} needs at least {} of {}", plan.fullest_stage(),
                       to_text(plan.stages[plan.fullest_stage()].memory.least()), to_text(plan.device.memory));
}

std::string obstacle(const Plan& plan) { return plan.fits() ? "" : "does not fit: " + need_text(plan); }

std::string memory_refusal(const Plan& plan, const std::vector<MemoryAdvice>& advice, std::string_view remedy) {
    return fmt::format("does not fit in memory: {}{}\n{}{}measured runs of this kind:\n{}", need_text(plan), remedy,
                       memory_text(plan), advice_text(plan, advice), memory_validity_text(validity_of(plan)));
}

bool refused_for_memory(const po::variables_map& arguments, const Plan& plan, const std::vector<MemoryAdvice>& advice) {
    if (plan.fits()) return false;
    const bool allowed = arguments["allow-oom"].as<bool>();
    const std::string path = job_path(arguments);
    fmt::print(stderr, "{}{}{}", path, path.empty() ? "" : ": ",
               memory_refusal(plan, advice, allowed ? "" : " (--allow-oom simulates it all the same)"));
    return !allowed;
}

bool refused_for_memory(const po::variables_map& arguments, const Study& study, const Plan& plan) {
    return !plan.fits() && refused_for_memory(arguments, plan, memory_advice(study));
}

namespace {

constexpr double most_of_free = 0.9;  // the rest is for what tables do not count: reports, pages, traces

std::string counts_text(const StepSize& size) {
    return fmt::format("{} rank classes for {} ranks, {} operations, {} exchanges, {} loads of links",
                       grouped(size.classes), grouped(size.ranks), grouped(static_cast<double>(size.ops)),
                       grouped(static_cast<double>(size.exchanges)), grouped(static_cast<double>(size.loads())));
}

// The size of the job with one more assignment; none if it may not be so.
std::optional<SizedStep> size_with(const po::variables_map& arguments, const std::string& assignment,
                                   const StepOptions& options) {
    Document document = job_document(arguments);
    if (!assignment.empty()) document.assign(assignment);
    try {
        const Study study = read_study(std::move(document), Purpose::simulation);
        const Plan plan = make_plan(study);
        return size_step(plan, prepare(study)->costs(plan), options);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

namespace fs = std::filesystem;

// A file that holds one number; "max" is none.
std::optional<double> number_in(const fs::path& path) {
    std::ifstream file(path);
    std::uint64_t value = 0;
    if (!(file >> value)) return std::nullopt;
    return static_cast<double>(value);
}

// The number after a word at the start of a line.
std::optional<double> number_after(const fs::path& path, std::string_view word) {
    std::ifstream file(path);
    std::string line, first;
    while (file >> first) {
        std::uint64_t value = 0;
        if (first == word && file >> value) return static_cast<double>(value);
        std::getline(file, line);
    }
    return std::nullopt;
}

struct Names {
    const char *limit, *usage, *files;
};

// Of a control group and all above it, up to `top`.
double left_by_groups(fs::path group, const fs::path& top, const Names& names) {
    double least = std::numeric_limits<double>::infinity();
    for (;;) {
        if (const std::optional<double> limit = number_in(group / names.limit)) {
            const double used = number_in(group / names.usage).value_or(0.0) -
                                number_after(group / "memory.stat", names.files).value_or(0.0);
            least = std::min(least, *limit - std::max(used, 0.0));
        }
        if (group == top || !group.has_relative_path()) return std::max(least, 0.0);
        group = group.parent_path();
    }
}

// "0::/path" of version 2, "4:memory:/path" of version 1. The path may lie outside of what a container sees.
fs::path group_below(const fs::path& top, const std::string& path) {
    const fs::path inside = top / fs::path(path).relative_path();
    return fs::exists(inside) ? inside.lexically_normal() : top;
}

}  // namespace

TooLarge::TooLarge(const StepSize& step, Bytes most)
    : RangeError(
          "simulating this takes about {} of memory ({}), and may take {} (--memory-limit SIZE; "
          "without it most of what the machine has free)",
          to_text(step.memory()), counts_text(step), to_text(most)),
      size(step),
      limit(most) {}

Bytes memory_limit(const po::variables_map& arguments, unsigned at_a_time) {
    const std::optional<Bytes> limit = read_option(arguments, "memory-limit", "a size such as 16GiB", parse_bytes);
    return limit ? *limit / at_a_time : free_memory() * (most_of_free / at_a_time);
}

SizeListener refuse_above(Bytes limit) {
    return [limit](const StepSize& size) {
        if (size.memory() > limit) throw TooLarge(size, limit);
    };
}

SimulationOptions simulation_options(const po::variables_map& arguments, std::string_view page, unsigned at_a_time) {
    return {.network = network_option(arguments),
            .folding = folding_option(arguments),
            .recording = page.empty() ? Recording::spans : Recording::spans_and_links,
            .on_size = refuse_above(memory_limit(arguments, at_a_time))};
}

std::string size_text(const StepSize& size) {
    return fmt::format("about {} and {}: {}", to_text(size.time()), to_text(size.memory()), counts_text(size));
}

std::string size_json(const SizedStep& step) {
    const StepSize& size = step.size;
    const nlohmann::ordered_json json{{"simulation",
                                       {{"ranks", size.ranks},
                                        {"classes", size.classes},
                                        {"folding", name(step.folding)},
                                        {"operations", size.ops},
                                        {"exchanges", size.exchanges},
                                        {"link_loads", size.loads()},
                                        {"memory_bytes", size.memory().value},
                                        {"time_s", size.time().value}}}};
    return json_text(json);
}

std::string what_would_fit(const po::variables_map& arguments, Folding asked, const TooLarge& refused) {
    std::string lines;
    const auto offer = [&](const std::string& how, std::optional<SizedStep> step) {
        if (!step) return false;
        if (step->size.memory() > refused.limit) return false;
        lines += fmt::format("  {}: {}\n", how, size_text(step->size));
        return true;
    };
    const auto options_of = [&](Folding folding) {
        return StepOptions{.folding = folding, .is_written_out = refused.size.is_written_out};
    };
    for (const Folding folding : {Folding::exact, Folding::stages}) {
        if (folding != asked && (asked == Folding::none || folding == Folding::stages)) {
            offer(fmt::format("--fold {}", name(folding)), size_with(arguments, "", options_of(folding)));
        }
    }
    const Plan plan = make_plan(job_study(arguments));
    const std::uint32_t micro_batches = plan.job.micro_batches(), together = plan.job.batch.global / micro_batches;
    const double share = refused.limit / refused.size.memory();
    for (auto fewer = static_cast<std::uint32_t>(micro_batches * share); fewer > 0; fewer /= 2) {
        const std::string batch = fmt::format("batch.global={}", fewer * together);
        if (offer(fmt::format("--set {} ({} micro-batches instead of {})", batch, fewer, micro_batches),
                  size_with(arguments, batch, options_of(asked)))) {
            break;
        }
    }
    return lines.empty() ? "" : "what would fit:\n" + lines;
}

Bytes free_memory(const fs::path& root) {
    double least = std::numeric_limits<double>::infinity();
    if (const auto available = number_after(root / "proc/meminfo", "MemAvailable:")) least = *available * 1024;
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const std::size_t colon = line.find(':'), second = line.find(':', colon + 1);
        if (second == std::string::npos) continue;
        const std::string kinds = line.substr(colon + 1, second - colon - 1), path = line.substr(second + 1);
        const bool is_second = kinds.empty();  // of the two versions
        if (!is_second && ("," + kinds + ",").find(",memory,") == std::string::npos) continue;
        const fs::path top = root / (is_second ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
        const Names names = is_second ? Names{"memory.max", "memory.current", "inactive_file"}
                                      : Names{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
        least = std::min(least, left_by_groups(group_below(top, path), top, names));
    }
    return Bytes{least};
}

}  // namespace weft
