// `weft sweep` and `weft merge` from outside: what they write, and that nothing stops them for good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <sstream>
#include <thread>

#include "tests/tools/program.hpp"
#include "tools/output/result_file.hpp"

namespace weft {
namespace {

using std::chrono::milliseconds;
using test::read_file;
using test::run_weft;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const std::string job = WEFT_SOURCE_DIR "/workloads/jobs/frontier-gpt-neox-1.3b-sequence.json";
const std::string study = WEFT_SOURCE_DIR "/workloads/sweeps/sequence-length.json";
// 400 points, of which a quarter cannot run: long enough to be stopped in the middle.
const std::string many = job +
                         " --vary batch.sequence=512..100352+1024 --vary batch.micro=1,2 --set batch.global=32 "
                         "--vary zero=1,2";

std::size_t lines_in(const std::filesystem::path& path) {
    const std::string text = read_file(path);
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// The program with `arguments`, under way.
pid_t start(const std::string& arguments, const std::filesystem::path& err) {
    const pid_t child = fork();
    if (child == 0) {
        const std::string command = "exec '" WEFT_PROGRAM "' " + arguments + " 2>'" + err.string() + "' </dev/null";
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        _exit(127);
    }
    return child;
}

// Waits until the file has so many lines, or the program has ended.
void wait_for_lines(const std::filesystem::path& path, std::size_t lines, pid_t child) {
    for (int i = 0; i < 10'000 && lines_in(path) < lines; ++i) {
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
        if (info.si_pid == child) return;
        std::this_thread::sleep_for(milliseconds(1));
    }
}

int ended(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

class SweepCommand : public testing::Test {
  protected:
    std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
    std::string whole(const std::string& sweep) const {
        EXPECT_EQ(run_weft("sweep " + sweep + " --jobs 2 --out " + file("whole.csv")).exit_code, 0);
        return read_file(file("whole.csv"));
    }
    test::TemporaryFolder folder_;
};

TEST_F(SweepCommand, writes_csv_json_lines_and_sqlite) {
    const std::string sweep = "sweep " + job + " --vary batch.sequence=512..1024*2 --out ";
    for (const char* name : {"seq.csv", "seq.jsonl", "seq.sqlite"})
        EXPECT_EQ(run_weft(sweep + file(name)).exit_code, 0);
    std::istringstream text(read_file(file("seq.csv")));
    std::string header, row;
    std::getline(text, header);
    EXPECT_TRUE(header.starts_with("batch.sequence,step_time_s,step_compute_s")) << header;
    EXPECT_TRUE(header.ends_with(",reason"));
    std::getline(text, row);
    EXPECT_TRUE(row.starts_with("512,")) << row;
    EXPECT_TRUE(read_file(file("seq.jsonl")).starts_with("{\"schema\":2,\"batch.sequence\":512,\"step_time_s\":"));
    const SqliteFile sqlite(file("seq.sqlite"));
    SqliteFile::Statement slowest(sqlite, "SELECT \"batch.sequence\", max(step_time_s) FROM results");
    ASSERT_TRUE(slowest.step());
    EXPECT_EQ(slowest.value(0), ResultCell(std::int64_t{1024}));
    std::error_code none;
    EXPECT_FALSE(std::filesystem::exists(file("seq.csv.journal"), none));
}

TEST_F(SweepCommand, varies_what_a_named_machine_has) {
    const std::string h100 = WEFT_SOURCE_DIR "/workloads/jobs/dgx-h100-llama3-8b-fsdp.json";
    const test::Ran ran =
        run_weft("sweep " + h100 + " --vary 'machine.links.infiniband.nic.bandwidth.nominal=100 Gbit/s,800 Gbit/s'");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    std::istringstream text(ran.out);
    std::vector<double> steps;
    std::string line, cell;
    while (std::getline(text, line)) {
        std::istringstream cells(line);
        std::getline(cells, cell, ',');
        if (cell.find("Gbit/s") == std::string::npos) continue;
        std::getline(cells, cell, ',');
        steps.push_back(std::stod(cell));
    }
    ASSERT_EQ(steps.size(), 2U) << ran.out;
    EXPECT_GT(steps[0], steps[1]);
}

TEST_F(SweepCommand, refuses_what_it_cannot_do) {
    const auto refused = [&](const std::string& arguments) {
        const test::Ran ran = run_weft("sweep " + arguments);
        EXPECT_EQ(ran.exit_code, 2) << arguments;
        EXPECT_EQ(ran.out, "") << arguments;
        return ran.err;
    };
    EXPECT_THAT(refused(job + " --vary batch.sequence=512 --out x.parquet"), HasSubstr(".csv, .jsonl or .sqlite"));
    EXPECT_THAT(refused(job + " --vary batch.sequence"), HasSubstr("--vary: expected KEY="));
    EXPECT_THAT(refused(job), HasSubstr("nothing varies"));
    EXPECT_THAT(refused(job + " --vary zero=1 --shard 1/2 --out x.csv"), HasSubstr(".shard"));
    EXPECT_THAT(refused(job + " --vary zero=1 --shard 3/2 --out x.shard"), HasSubstr("I from 1 to N"));
    EXPECT_THAT(refused(job + " --vary zero=1 --resume"), HasSubstr("--out"));
    EXPECT_THAT(refused(job + " --vary zero=1 --where 'zro > 1'"), HasSubstr("did you mean \"zero\""));
    EXPECT_THAT(refused(job + " --zip 'zero=1,2 batch.micro=1'"), HasSubstr("zero has 2 values but batch.micro has 1"));
}

TEST_F(SweepCommand, without_a_single_result_the_input_was_bad) {
    const test::Ran ran = run_weft("sweep " + job + " --vary layout.tensor=3,5,7");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_THAT(ran.err, HasSubstr("layout"));
}

TEST_F(SweepCommand, has_the_study_s_sequence_lengths_ready) {
    const std::string csv = whole(study);
    EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 6 * 8);
    EXPECT_THAT(csv, HasSubstr("\nPP 2,1,1,2,8,8,65536,"));
    EXPECT_THAT(csv, testing::Not(HasSubstr("does not fit")));
}

TEST_F(SweepCommand, gives_the_same_bytes_from_shards) {
    const std::string csv = whole(study);
    std::string shards;
    for (int i = 1; i <= 4; ++i) {
        const std::string name = file("part-" + std::to_string(i) + ".shard");
        const std::string arguments = "sweep " + study + " --shard " + std::to_string(i) + "/4 --resume --out " + name;
        EXPECT_EQ(run_weft(arguments).exit_code, 0);
        EXPECT_THAT(run_weft(arguments).err, HasSubstr("is complete"));
        shards += " " + name;
    }
    EXPECT_EQ(run_weft("merge " + file("merged.csv") + shards).exit_code, 0);
    EXPECT_EQ(read_file(file("merged.csv")), csv);
}

TEST_F(SweepCommand, merges_no_shards_that_do_not_make_a_whole) {
    const auto shard = [&](const std::string& sweep, const std::string& part, const std::string& name) {
        EXPECT_EQ(run_weft("sweep " + sweep + " --shard " + part + " --out " + file(name)).exit_code, 0);
    };
    shard(job + " --vary zero=1..3", "1/2", "a.shard");
    shard(job + " --vary zero=1..3 --set batch.sequence=512", "2/2", "b.shard");
    shard(job + " --vary zero=1..3", "2/3", "c.shard");
    std::ofstream(file("d.shard")) << "no shard\n";
    const auto refused = [&](const std::string& names) {
        const test::Ran ran = run_weft("merge x.csv " + names, folder_.path());
        EXPECT_EQ(ran.exit_code, 3) << names;
        EXPECT_FALSE(std::filesystem::exists(file("x.csv")));
        return ran.err;
    };
    EXPECT_THAT(refused("a.shard"), HasSubstr("of 2 shards, these are missing: 2"));
    EXPECT_THAT(refused("a.shard a.shard"), HasSubstr("shard 1 as a.shard is"));
    EXPECT_THAT(refused("a.shard b.shard"), HasSubstr("b.shard: error: of other inputs than a.shard (values set)"));
    EXPECT_THAT(refused("a.shard c.shard"), HasSubstr("one of 3 shards, but a.shard is one of 2"));
    EXPECT_THAT(refused("a.shard d.shard"), HasSubstr("d.shard:1:1: error: damaged"));
    EXPECT_THAT(refused("a.shard nothing.shard"), HasSubstr("cannot be read"));
    const std::string text = read_file(file("a.shard"));
    std::ofstream(file("e.shard")) << text.substr(0, text.size() - 5);
    EXPECT_THAT(refused("e.shard"), HasSubstr("not complete: 1 of 2 rows"));
}

TEST_F(SweepCommand, killed_ten_times_loses_no_row_and_has_none_twice) {
    const std::string csv = whole(many), out = file("rows.csv"), journal = out + ".journal";
    std::minstd_rand random(7);
    int killed = 0;
    for (int i = 0; i < 10; ++i) {
        const std::size_t before = lines_in(journal);
        const pid_t child = start("sweep " + many + " --jobs 2 --resume --out " + out, file("err"));
        wait_for_lines(journal, before + 1 + random() % 30, child);
        kill(child, SIGKILL);
        killed += WIFSIGNALED(ended(child)) ? 1 : 0;
    }
    EXPECT_GE(killed, 5) << "the sweep is too short to be killed";
    EXPECT_EQ(run_weft("sweep " + many + " --resume --out " + out).exit_code, 0);
    EXPECT_TRUE(read_file(out) == csv);
    EXPECT_FALSE(std::filesystem::exists(journal));
}

TEST_F(SweepCommand, killed_between_its_shard_and_the_end_leaves_no_journal_to_the_next) {
    const std::string shard = file("a.shard"), journal = shard + ".journal";
    const std::string arguments = "sweep " + job + " --vary zero=1..3 --shard 1/2 --resume --out " + shard;
    EXPECT_EQ(run_weft(arguments).exit_code, 0);
    const std::string rows = read_file(shard);
    std::filesystem::copy_file(shard, journal);  // the rows of both are the same lines
    EXPECT_EQ(run_weft(arguments).exit_code, 0);
    EXPECT_EQ(read_file(shard), rows);
    EXPECT_FALSE(std::filesystem::exists(journal));
}

TEST_F(SweepCommand, interrupted_keeps_what_is_done_and_says_how_to_go_on) {
    const std::string csv = whole(many), out = file("rows.csv"), journal = out + ".journal";
    for (const int signal : {SIGINT, SIGTERM}) {
        const std::size_t before = lines_in(journal);
        const pid_t child = start("sweep " + many + " --jobs 2 --resume --out " + out, file("err"));
        wait_for_lines(journal, before + 10, child);
        kill(child, signal);
        const int status = ended(child);
        ASSERT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 130);
        EXPECT_THAT(read_file(file("err")), HasSubstr("--resume goes on"));
        EXPECT_TRUE(read_file(journal).ends_with("]\n"));
        EXPECT_GE(lines_in(journal), before + 10);
    }
    EXPECT_EQ(run_weft("sweep " + many + " --resume --out " + out).exit_code, 0);
    EXPECT_TRUE(read_file(out) == csv);
}

// An sbatch that runs the tasks of an array one after another, and what depends on it when all have ended well.
constexpr const char* sbatch = R"sh(#!/bin/bash
set -e
here=$(dirname "$0")
if [[ $* == *--dependency=afterok:17* ]]; then
    printf '%s\n' "${@: -1}" >"$here/after"
    exit
fi
count=${1#--array=1-}
for ((i = 1; i <= count; ++i)); do
    SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=$count SLURM_ARRAY_JOB_ID=17 SLURM_CPUS_PER_TASK=1 \
        bash "${@:2}" 2>>"$here/log"
done
bash -c "$(cat "$here/after")" 2>>"$here/log"
echo "Submitted batch job 17"
)sh";

TEST_F(SweepCommand, submits_itself_to_slurm_and_merges) {
    const std::filesystem::path bin = folder_.path() / "bin";
    std::filesystem::create_directory(bin);
    std::ofstream(bin / "sbatch") << sbatch;
    std::filesystem::permissions(bin / "sbatch", std::filesystem::perms::owner_all);
    const std::string sweep =
        job + " --vary batch.sequence=512,1024,2048 --set 'batch.micro=1' --where 'batch.sequence > 600'";
    const std::string before = std::string("PATH=") + bin.string() + ":/usr/bin:/bin ";
    const std::string rows = file("it's rows.csv");
    const std::string line = before + "'" WEFT_PROGRAM "' sweep " + sweep + " --submit slurm --out \"" + rows + "\"";
    EXPECT_EQ(std::system((line + " >'" + file("said") + "' 2>'" + file("err") + "'").c_str()), 0)
        << read_file(file("err")) << read_file(bin / "log");
    EXPECT_EQ(read_file(file("said")), "Submitted batch job 17\n");
    EXPECT_EQ(read_file(rows), whole(sweep));
    EXPECT_TRUE(std::filesystem::exists(rows + ".shards/2.shard")) << "a shard for each of two points";
    EXPECT_FALSE(std::filesystem::exists(rows + ".shards/3.shard"));
}

TEST_F(SweepCommand, refuses_to_submit_what_it_cannot) {
    const std::string sweep = "sweep " + job + " --vary zero=1,2 --submit ";
    EXPECT_THAT(run_weft(sweep + "pbs --out rows.csv").err, HasSubstr("--submit: expected slurm, got \"pbs\""));
    EXPECT_THAT(run_weft(sweep + "slurm").err, HasSubstr("--submit needs JOB, and --out"));
    EXPECT_THAT(run_weft(sweep + "slurm --out rows.csv --jobs 2").err,
                HasSubstr("--submit and --jobs do not go together"));
    EXPECT_EQ(run_weft("sweep " + job + " --vary zero=1..2 --where 'zero > 2' --submit slurm --out rows.csv").exit_code,
              2);
}

class SweepOverMpi : public SweepCommand {
  protected:
    void SetUp() override {
        if (std::system("mpirun --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "openmpi-bin is not installed";
        if (run("sweep " + job + " --vary zero=1").err.find("built without MPI") != std::string::npos) {
            GTEST_SKIP() << "weft was built without libopenmpi-dev and libboost-mpi-dev";
        }
    }
    // Four ranks of the program, or of what stands for it. MPI's own libraries leak, which is not what a sanitizer
    // should tell here.
    test::Ran run(const std::string& arguments, const std::string& program = WEFT_PROGRAM) const {
        test::Ran ran;
        const std::string command =
            "ASAN_OPTIONS=detect_leaks=0 timeout -k 1 20 mpirun --allow-run-as-root --oversubscribe -n 4 '" + program +
            "' " + arguments + " >'" + file("out") + "' 2>'" + file("err") + "' </dev/null";
        const int status = std::system(command.c_str());
        ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ran.out = read_file(file("out"));
        ran.err = read_file(file("err"));
        return ran;
    }
};

TEST_F(SweepOverMpi, gives_the_same_bytes) {
    const std::string csv = whole(many);
    const test::Ran ran = run("sweep " + many + " --out " + file("rows.csv"));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_TRUE(read_file(file("rows.csv")) == csv);
    EXPECT_EQ(run("sweep " + study).out, whole(study));
}

// The program, but the rank with this number gets a signal when the journal has a few rows.
std::string struck(const std::filesystem::path& path, int rank, const std::string& signal, const std::string& journal) {
    std::ofstream(path) << "#!/bin/sh\nif [ \"$OMPI_COMM_WORLD_RANK\" = " << rank << " ]; then\n"
                        << "  (while ! [ \"$(wc -l <'" << journal << "')\" -ge 20 ]; do sleep 0.01; done; kill -"
                        << signal << " $$) >/dev/null 2>&1 &\nfi\nexec '" WEFT_PROGRAM "' \"$@\"\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
}

TEST_F(SweepOverMpi, loses_no_row_with_a_rank) {
    const std::string csv = whole(many), out = file("rows.csv");
    const std::string killed = struck(folder_.path() / "killed", 2, "KILL", out + ".journal");
    // MPI ends the job with the rank; what was done is in the journal.
    run("sweep " + many + " --out " + out + " --resume", killed);
    EXPECT_EQ(run("sweep " + many + " --out " + out + " --resume").exit_code, 0);
    EXPECT_TRUE(read_file(out) == csv);
}

TEST_F(SweepOverMpi, ends_with_the_mistake_of_rank_0) {
    const test::Ran ran = run("sweep " + many + " --out " + file("none/rows.csv"));
    EXPECT_NE(ran.exit_code, 0);
    EXPECT_THAT(ran.err, HasSubstr("none/rows.csv.journal"));
}

}  // namespace
}  // namespace weft
