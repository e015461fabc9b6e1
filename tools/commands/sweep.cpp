// `weft sweep JOB --vary KEY=VALUES`: a grid of simulations, one row each.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/output/result_file.hpp"
#include "tools/output/result_table.hpp"
#include "tools/page/pages.hpp"
#include "tools/parallel.hpp"
#include "tools/sweep/sweep.hpp"

namespace weft::commands {
namespace {

// Shards are processes that know nothing of each other, whoever started them.
bool is_crew_of_mpi(const po::variables_map& arguments) { return !arguments.count("shard") && is_mpi_job(); }

unsigned threads_of(const po::variables_map& arguments) {
    return is_crew_of_mpi(arguments) && !arguments.count("jobs") ? 1 : threads_option(arguments);
}

std::unique_ptr<Crew> crew_of(const po::variables_map& arguments) {
    const unsigned threads = threads_of(arguments);
    return is_crew_of_mpi(arguments) ? mpi_crew(threads) : thread_crew(threads);
}

bool is_done_already(const SweepRun& sweep, const SweepSettings& settings) {
    if (settings.resume == Resume::no || settings.out->extension() != ".shard") return false;
    if (!std::filesystem::exists(*settings.out)) return false;
    if (std::filesystem::exists(Journal::path_of(*settings.out))) return false;  // the last one was killed at its end
    const RowFile file = read_row_file(*settings.out);
    return is_complete(file) && file.header.inputs == sweep.inputs() && file.header.shard == settings.shard;
}

void write_shard(const std::filesystem::path& path, const SweepRun::Outcome& outcome) {
    AtomicFile file(path);
    file.write(header_line(outcome.header));
    for (const auto& [number, row] : outcome.rows) file.write(row_line(number, row));
    file.commit();
}

std::string report_path(const po::variables_map& arguments) {
    std::string path = output_option(arguments, "report", {".html"});
    if (!path.empty() && arguments.count("shard")) {
        throw OptionError("--report needs all rows, and --shard has a part of them: weft merge writes the report");
    }
    return path;
}

// Where a table goes: a file's writers, pages and stdout are told apart here and nowhere else.
void write(const po::variables_map& arguments, const SweepSettings& settings, const SweepRun::Outcome& outcome) {
    if (!settings.out) {
        const ResultTable table = outcome.table();
        fmt::print("{}", given(arguments, "json") ? result_json_lines(table) : result_csv(table));
    } else if (settings.out->extension() == ".shard") {
        write_shard(*settings.out, outcome);
    } else {
        const RunRecord run{.command = "sweep", .job = outcome.header.job, .inputs = outcome.header.inputs.digest()};
        write_results(*settings.out, run, outcome.table());
    }
    if (const std::string page = report_path(arguments); !page.empty()) {
        const ResultPageText text{.title = "Sweep of " + outcome.header.job,
                                  .command = typed_command("sweep", arguments, {"vary", "zip", "where"})};
        write_file_atomically(page, sweep_page(text, outcome.table()));
    }
    if (outcome.journal) outcome.journal->remove();
}

Answer report(const SweepSettings& settings, const SweepRun::Outcome& outcome) {
    const std::size_t failed = outcome.without_result();
    const bool is_all = failed == outcome.rows.size() && failed > 0;
    if (settings.out) {
        fmt::print(stderr, "{}: {} rows, {} without result\n", settings.out->string(), outcome.rows.size(), failed);
    }
    if (!is_all) return {};
    const auto& reason = std::get<std::string>(outcome.rows.begin()->second.back());
    fmt::print(stderr, "no point could be simulated; the first: {}\n", reason);
    // A shard's neighbours may have results.
    return {.exit = settings.shard.of > 1 ? Exit::ok : Exit::bad_input};
}

Answer report_interruption(const SweepSettings& settings, const SweepRun::Outcome& outcome) {
    const std::size_t rows = rows_of(outcome.header.points, outcome.header.shard);
    if (settings.out) {
        fmt::print(stderr, "interrupted: {} of {} rows are in {}; the same command with --resume goes on\n",
                   outcome.rows.size(), rows, Journal::path_of(*settings.out).string());
    } else {
        fmt::print(stderr, "interrupted: {} of {} rows were done, and are lost; with --out they would be kept\n",
                   outcome.rows.size(), rows);
    }
    return {.exit = Exit::interrupted};
}

// The options that were given and mean each shard.
std::vector<std::string> options_of_shards(const po::variables_map& arguments) {
    constexpr std::array<std::string_view, 5> others{"job", "out", "resume", "submit", "shards"};
    std::vector<std::string> options;
    for (const auto& [name, value] : arguments) {
        if (value.defaulted() || std::ranges::find(others, name) != others.end()) continue;
        if (const auto* const text = boost::any_cast<std::string>(&value.value())) {
            options.push_back(fmt::format("--{}={}", name, *text));
        } else if (const auto* const texts = boost::any_cast<std::vector<std::string>>(&value.value())) {
            for (const std::string& each : *texts) options.push_back(fmt::format("--{}={}", name, each));
        } else if (value.as<bool>()) {
            options.push_back("--" + name);
        }
    }
    return options;
}

Answer submit(const po::variables_map& arguments, const SweepRequest& request, const SweepSettings& settings) {
    if (const auto& to = arguments["submit"].as<std::string>(); to != "slurm") {
        throw unexpected("submit", "slurm", to);
    }
    if (!settings.out || !arguments.count("job")) throw OptionError("--submit needs JOB, and --out for the table");
    for (const char* const option : {"shard", "jobs", "json", "report"}) {
        if (!arguments[option].empty() && !arguments[option].defaulted()) {
            throw OptionError("--submit and --{} do not go together", option);
        }
    }
    std::size_t points = 0;
    try {
        points = points_of(request).size();
    } catch (const std::invalid_argument& error) {
        throw OptionError(error.what());
    }
    const std::uint32_t shards =
        *count_option(arguments, {.name = "shards", .most = 10'000, .reason = "Slurm's arrays"});
    submit_to_slurm(job_path(arguments), *settings.out, std::min<std::size_t>(shards, points),
                    options_of_shards(arguments));
    return {};
}

Answer run_sweep(const po::variables_map& arguments) {
    SweepSettings settings = sweep_settings(arguments);
    report_path(arguments);  // refuses other names before anything runs
    SweepRequest request = sweep_request(arguments);
    request.simulation.on_size = refuse_above(memory_limit(arguments, threads_of(arguments)));
    print_job_notes(arguments);
    if (arguments.count("submit")) return submit(arguments, request, settings);
    const Interruption interruption(
        [] { fmt::print(stderr, "\nending with the points under way; again to stop at once\n"); });
    const std::unique_ptr<Crew> crew = crew_of(arguments);
    SweepRun::Outcome outcome;
    try {
        const SweepRun sweep(request);
        if (is_done_already(sweep, settings)) {
            fmt::print(stderr, "{} is complete\n", settings.out->string());
            return {};
        }
        ProgressBar bar;
        settings.stopped = [&] { return interruption.requested(); };
        settings.progress = [&bar](std::size_t done, std::size_t rows) { bar.show(done, rows); };
        outcome = sweep.run(*crew, settings);
    } catch (const std::invalid_argument& error) {
        throw OptionError(error.what());
    }
    if (!crew->leads()) return {};
    if (!outcome.is_complete()) return report_interruption(settings, outcome);
    write(arguments, settings, outcome);
    return report(settings, outcome);
}

}  // namespace

extern const Command sweep{.name = "sweep", .run = run_sweep, .group = CommandGroup::run};

}  // namespace weft::commands
