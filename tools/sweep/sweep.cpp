#include "tools/sweep/sweep.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/algorithm/string/replace.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <stdexcept>
#include <system_error>

#include "sim/base/lists.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/files.hpp"
#include "tools/output/columns.hpp"

namespace weft {
namespace {

std::vector<std::size_t> missing_rows(std::size_t points, SweepShard shard, const RowsByNumber& done) {
    std::vector<std::size_t> rows;
    for (std::size_t row = shard.number - 1; row < points; row += shard.of) {
        if (!done.contains(row)) rows.push_back(row);
    }
    return rows;
}

constexpr std::size_t most_topologies = 16;  // of a whole machine, tens of MB each
constexpr std::string_view script_name = "sweep-array";

// Waits for the end of the command, which has this process's output. Its exit code.
int run(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (const int error = ::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
        error != 0) {
        throw std::runtime_error(fmt::format("{}: {}; is this a machine with Slurm? Otherwise run shards (--shard I/N)",
                                             words[0], std::generic_category().message(error)));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The points of a sweep: the columns of its table, and what fills them.

// What a dimension of a report counts as; of the last those that are named nowhere.
struct DimensionFamily {
    std::string_view column;
    std::string_view meaning;
    std::array<std::string_view, 4> dimensions;
};

constexpr std::array<DimensionFamily, 6> families{{
    {"communication_tensor_bytes", "of it, within tensor (and sequence) parallel groups", {"tensor"}},
    {"communication_context_bytes", "of it, within context parallel groups", {"context"}},
    {"communication_expert_bytes", "of it, between the experts of a layer", {"expert", "expert tensor"}},
    {"communication_data_bytes",
     "of it, gradients and parameters of data parallelism",
     {"data", "data inner", "data outer", "expert data"}},
    {"communication_pipeline_bytes", "of it, sent from stage to stage", {"pipeline"}},
    {"communication_other_bytes", "of it, norms, flags and tied embeddings", {}},
}};

// What a rank puts on the wire; what it receives, another has sent.
Bytes sent(const CommunicationReport& row) { return row.op == "recv" ? Bytes{} : row.bytes; }

std::size_t family_of(std::string_view dimension) {
    const auto has = [&](const DimensionFamily& family) {
        return std::ranges::find(family.dimensions, dimension) != family.dimensions.end();
    };
    const auto found = static_cast<std::size_t>(std::ranges::find_if(families, has) - families.begin());
    return std::min(found, families.size() - 1);
}

// The same for every sweep.
Columns<Report> metric_columns() {
    Columns<Report> columns;
    for (const StepMetric& each : known_metrics()) {  // keys already name their unit: "step.time_s" is step_time_s
        columns.push_back({boost::replace_all_copy(std::string(each.key), ".", "_"), std::string(each.unit),
                           std::string(each.meaning), [i = columns.size()](const Report& report) {
                               return value_of<ResultCell>(report.metrics[i]);
                           }});
    }
    columns.push_back({"ranks", "", "accelerators of the job", &Report::ranks});
    columns.push_back({"throughput_tokens_per_s_per_gpu", "tokens/s", "of one accelerator",
                       [](const Report& report) { return report.metric("throughput.tokens_per_s") / report.ranks; }});
    columns.push_back({"communication_bytes", "B", "put on the wire by one rank in a step; mean over ranks",
                       [](const Report& report) { return sum_of<Bytes>(report.communication, sent); }});
    for (std::size_t i = 0; i < families.size(); ++i) {
        const auto own = [i](const CommunicationReport& row) {
            return family_of(row.dimension) == i ? sent(row) : Bytes{};
        };
        columns.push_back({std::string(families[i].column), "B", std::string(families[i].meaning),
                           [own](const Report& report) { return sum_of<Bytes>(report.communication, own); }});
    }
    return columns;
}

}  // namespace

std::filesystem::path Journal::path_of(const std::filesystem::path& out) {
    std::filesystem::path path = out;
    return path += ".journal";
}

Journal::Journal(const std::filesystem::path& out, const RowHeader& header, Resume resume) : path_(path_of(out)) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0) refuse_write();
    try {
        // Not every file system of a cluster has locks; then there is none.
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            refuse("another sweep is writing it");
        }
        take_over(header, resume);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

Journal::~Journal() {
    (void)::fdatasync(descriptor_);  // what failed to reach the disk is done again
    ::close(descriptor_);
}

void Journal::take_over(const RowHeader& header, Resume resume) {
    RowFile found = read_row_file(path_);
    if (!found.rows.empty()) {
        if (found.header.inputs != header.inputs) {
            refuse("is of other inputs (" + header.inputs.difference(found.header.inputs) +
                   "); remove it to begin anew");
        }
        if (found.header.shard != header.shard) {
            refuse(fmt::format("is of shard {}/{}", found.header.shard.number, found.header.shard.of));
        }
        if (resume == Resume::no) {
            refuse(
                fmt::format("has {} of {} rows of a sweep that was not finished: --resume goes on with it, and "
                            "without the file the sweep begins anew",
                            found.rows.size(), rows_of(found.header.points, found.header.shard)));
        }
    }
    const bool is_ours = found.whole_bytes > 0 && header_line(found.header) == header_line(header);
    if (::ftruncate(descriptor_, is_ours ? static_cast<off_t>(found.whole_bytes) : 0) != 0) refuse_write();
    if (!is_ours) write(header_line(header));
    sync();
    if (is_ours && !found.damaged.empty()) {
        fmt::print(stderr, "{}\n{} rows are whole, {} lines are not: their rows are done again\n",
                   ConfigError(found.damaged).what(), found.rows.size(), found.damaged.size());
    }
    done_ = std::move(found.rows);
}

// A file system that cannot sync has to be trusted.
void Journal::sync() {
    synced_ = std::chrono::steady_clock::now();
    if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) refuse_write();
}

void Journal::add(std::size_t number, const Row& row) {
    write(row_line(number, row));
    if (std::chrono::steady_clock::now() - synced_ > std::chrono::seconds(1)) sync();
}

void Journal::write(std::string_view line) {
    while (!line.empty()) {
        const ssize_t written = ::write(descriptor_, line.data(), line.size());
        if (written >= 0) {
            line.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            refuse_write();
        }
    }
}

void Journal::remove() {
    std::error_code ignored;  // a journal that stays is in nobody's way: the next sweep says whose it is
    std::filesystem::remove(path_, ignored);
}

void Journal::refuse_write() const { refuse("cannot be written: " + std::generic_category().message(errno)); }

void Journal::refuse(const std::string& reason) const { throw std::runtime_error(path_.string() + " " + reason); }

SweepRun::SweepRun(const SweepRequest& request)
    : request_(request),
      points_(points_of(request)),
      inputs_(inputs_of(request)),
      job_(open_job(request.job, request.overrides).document),
      topologies_(most_topologies) {}

SweepRun::Outcome SweepRun::run(Crew& crew, const SweepSettings& settings) const {
    Outcome outcome{.header = {.job = request_.job.path.empty() ? "a job" : request_.job.path.stem().string(),
                               .inputs = inputs_,
                               .points = points_.size(),
                               .shard = settings.shard,
                               .columns = sweep_columns(request_.grid)}};
    SweepWork work{.evaluate = [&](std::size_t row) { return evaluate(points_[row]); },
                   .stopped = settings.stopped,
                   .inputs = inputs_.digest()};
    if (crew.leads()) {
        if (settings.out) {
            outcome.journal = std::make_unique<Journal>(*settings.out, outcome.header, settings.resume);
            outcome.rows = outcome.journal->done();
        }
        outcome.resumed = outcome.rows.size();
        work.rows = missing_rows(points_.size(), settings.shard, outcome.rows);
        const std::size_t rows = outcome.rows.size() + work.rows.size();
        if (outcome.resumed > 0) settings.progress(outcome.resumed, rows);
        work.deliver = [&, rows](std::size_t number, Row row) {
            if (outcome.journal) outcome.journal->add(number, row);
            outcome.rows.emplace(number, std::move(row));
            settings.progress(outcome.rows.size(), rows);
        };
    }
    crew.run(work);
    return outcome;
}

std::size_t SweepRun::Outcome::without_result() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [](const auto& numbered) { return !has_result(numbered.second); }));
}

ResultTable SweepRun::Outcome::table() const {
    ResultTable table{.columns = header.columns, .rows = {}};
    for (const auto& [number, row] : rows) table.rows.push_back(row);
    return table;
}

void submit_to_slurm(const std::string& sweep, const std::filesystem::path& out, std::size_t shards,
                     const std::vector<std::string>& options) {
    const std::filesystem::path folder = out.string() + ".shards";
    std::filesystem::create_directories(folder);
    const std::filesystem::path path = folder / fmt::format("{}.sh", script_name);
    write_file_atomically(path, embedded::text_of(embedded::slurm_scripts(), script_name));
    ::setenv("WEFT", std::filesystem::read_symlink("/proc/self/exe").c_str(), 1);  // what the script is to run
    std::vector<std::string> words{
        "sbatch", fmt::format("--array=1-{}", shards), path.string(), sweep, out.string(), fmt::to_string(shards)};
    words.insert(words.end(), options.begin(), options.end());
    if (const int code = run(std::move(words)); code != 0) {
        throw std::runtime_error(fmt::format("sbatch refused the array (exit code {})", code));
    }
}

std::vector<ResultCell> metric_cells(const Report& report) {
    return list_of<ResultCell>(metric_columns(), [&](const auto& column) { return column.cell(report); });
}

std::vector<Column> sweep_columns(const SweepGrid& grid) {
    auto columns = list_of<Column>(grid.keys(), [](const std::string& key) {
        const std::string_view meaning = key.starts_with(label_mark) ? "name of the row" : "varied";
        return Column{std::string(column_name(key)), "", std::string(meaning), ColumnKind::key};
    });
    for (const auto& metric : metric_columns()) columns.push_back(metric.column);
    columns.push_back({.name = "reason", .unit = "", .meaning = "why there is no result", .kind = ColumnKind::note});
    std::set<std::string_view> known;
    for (const Column& column : columns) {
        if (!known.insert(column.name).second) {
            throw std::invalid_argument("a column is called \"" + column.name +
                                        "\" already; give the label another name");
        }
    }
    return columns;
}

Row row_of(const SweepGrid& grid, std::size_t point, const std::vector<ResultCell>& metrics,
           const std::string& reason) {
    auto row = list_of<ResultCell>(grid.point(point), cell_of_json);
    row.insert(row.end(), metrics.begin(), metrics.end());
    row.resize(grid.keys().size() + metric_columns().size());
    row.push_back(reason.empty() ? ResultCell{} : ResultCell{reason});
    return row;
}

bool has_result(const Row& row) { return std::holds_alternative<std::monostate>(row.back()); }

Row SweepRun::evaluate(std::size_t point) const {
    const SweepGrid& grid = request_.grid;
    try {
        Document job = job_.copy();
        for (const std::string& assignment : grid.overrides(point)) job.assign(assignment);
        const Study study = read_study(std::move(job), Purpose::simulation, sources_);
        Plan plan = make_plan(study);
        if (const std::string why = obstacle(plan); !why.empty()) return row_of(grid, point, {}, why);
        const std::uint32_t nodes = study.job.nodes;
        const Fabric& fabric = study.job.fabric;
        Simulation run =
            simulate_step(std::move(plan), request_.simulation, topologies_.take(study.machine, nodes, fabric));
        Row row = row_of(grid, point, metric_cells(make_report(run)));
        topologies_.put_back(study.machine, nodes, fabric, std::move(run.prepared));
        return row;
    } catch (const ConfigError& error) {
        return row_of(grid, point, {}, obstacle(error));
    } catch (const RangeError& error) {
        return row_of(grid, point, {}, error.what());
    }
}

}  // namespace weft
