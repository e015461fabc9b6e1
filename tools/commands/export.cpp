// `weft export JOB --format F`: what launches a job, or shows a simulated step, elsewhere.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/recorded/simulated_ranks.hpp"

namespace weft::commands {
namespace {

std::vector<RankId> asked_ranks(const po::variables_map& arguments, std::uint32_t count) {
    if (!arguments.count("ranks")) return numbers_below<RankId>(count);
    const auto rank = [](std::uint32_t number) { return RankId{number}; };
    return list_of<RankId>(numbers_option(arguments, "ranks", count), rank);
}

// Files of the step go into a folder, which is made once it is known that they can be written.
void export_step(const ExportFormat& format, const po::variables_map& arguments) {
    const std::filesystem::path folder = option_text(arguments, "out");
    if (folder.empty()) throw OptionError("--format {} writes several files: --out FOLDER", format.name);
    const Study study = job_study(arguments);
    const Plan plan = make_plan(study);
    const std::vector<RankId> ranks = asked_ranks(arguments, plan.job.layout.ranks());
    const Simulation run = simulate_step(study, plan, simulation_options(arguments));
    SimulatedRanks step(run);
    std::uint64_t nodes = 0;
    for (const RankId rank : ranks) check_exported_nodes(nodes += step.nodes(rank));
    std::size_t files = 0;
    format.step(step, ranks, [&](const std::string& name, std::string_view content) {
        std::filesystem::create_directories(folder);
        write_file_atomically(folder / name, content);
        ++files;
    });
    fmt::print(stderr, "{} files of {} ranks in {}\n", files, ranks.size(), folder.string());
}

Answer answer_export(const po::variables_map& arguments) {
    const ExportFormat& format = find_export(arguments["format"].as<std::string>());
    if (format.step != nullptr) return export_step(format, arguments), Answer{};
    if (arguments.count("ranks")) throw OptionError("--ranks is of formats that show a simulated step");
    Study study = job_study(arguments);
    study.job.layout = empty_plan(study).job.layout;  // what costs decide is said
    std::string text = format.job(study);
    if (!arguments.count("out")) return {std::move(text)};
    write_file_atomically(arguments["out"].as<std::string>(), text);
    return {};
}

}  // namespace

extern const Command export_{
    .name = "export", .run = answer_export, .group = CommandGroup::exchange, .is_of_library = true};

}  // namespace weft::commands
