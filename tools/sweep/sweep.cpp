#include "tools/sweep/sweep.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "sim/io/embedded.hpp"
#include "sim/io/files.hpp"

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

}  // namespace

std::filesystem::path Journal::path_of(const std::filesystem::path& out) {
    std::filesystem::path path = out;
    return path += ".journal";
}

Journal::Journal(const std::filesystem::path& out, const RowHeader& header, Resume resume) : path_(path_of(out)) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0) refuse("cannot be written: " + std::generic_category().message(errno));
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
    if (::ftruncate(descriptor_, is_ours ? static_cast<off_t>(found.whole_bytes) : 0) != 0) {
        refuse("cannot be written: " + std::generic_category().message(errno));
    }
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
    if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) {
        refuse("cannot be written: " + std::generic_category().message(errno));
    }
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
            refuse("cannot be written: " + std::generic_category().message(errno));
        }
    }
}

void Journal::remove() {
    std::error_code ignored;  // a journal that stays is in nobody's way: the next sweep says whose it is
    std::filesystem::remove(path_, ignored);
}

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

}  // namespace weft
