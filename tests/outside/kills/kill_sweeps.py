"""Sweeps and merges that are killed at random moments and begun again: no row may be lost, doubled or changed, nothing may
lie about in the end, and no rank of an MPI job may wait for good.

    kill_sweeps.py PROGRAM JOB FOLDER [--kills 900] [--mpi-kills 100] [--slurm-kills 0] [--seed 1]

Kills under Slurm need one that runs here, a single node will do, with no other jobs of this user.

Exit codes: 0 fine, 1 not, 77 fine, but without what needs Open MPI.
"""

import argparse
import collections
import itertools
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("job")
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--kills", type=int, default=900)
parser.add_argument("--mpi-kills", type=int, default=100)
parser.add_argument("--slurm-kills", type=int, default=0)
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()

draws = random.Random(arguments.seed)
folder = arguments.folder.resolve()
program, job = (str(pathlib.Path(path).resolve()) for path in (arguments.program, arguments.job))
# 112 points, of which none takes long, and some cannot run.
sweep = [program, "sweep", job, "--set", "batch.global=32", "--vary", "zero=0..3",
         "--vary", "batch.micro=1,2", "--vary", "batch.sequence=512..12800+1024,100352"]
mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4"]
most_strikes = 12  # of one run: then it goes on to its end
kills = collections.Counter()
longest_wait, left_launchers = 0.0, []


def expect(holds, what):
    if not holds:
        sys.exit(f"seed {arguments.seed}, after {sum(kills.values())} kills: {what}; see {folder}")


def begun(command):
    with open(folder / "said", "ab") as said:
        return subprocess.Popen(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL, cwd=folder)


def content(out):
    """Bytes of a file, or of a database what is in its tables."""
    if out.suffix != ".sqlite":
        return out.read_bytes()
    with sqlite3.connect(out) as base:
        expect(base.execute("PRAGMA integrity_check").fetchall() == [("ok",)], f"{out} is damaged")
        return [base.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
                for table in ("runs", "columns", "results")]


class Journal:
    """What has been written down must stay there, each row once, until the result is in place."""

    def __init__(self, out):
        self.path, self.rows = out.with_name(out.name + ".journal"), {}

    def look(self):
        lines = self.path.read_text().split("\n")[1:-1] if self.path.exists() else []
        rows = {line.split(",")[1]: line for line in lines}
        expect(len(rows) == len(lines), f"{self.path} has a row twice")
        expect(all(rows.get(row, line) == line for row, line in self.rows.items()), f"{self.path} has other rows")
        expect(not rows or self.rows.keys() <= rows.keys(), f"{self.path} has lost rows")
        self.rows = rows


def strike_process(process, name):
    process.kill()
    process.wait()
    kills[name] += 1


def run_to_the_end(command, out, most_seconds, strike, name):
    """Again and again, until one is not struck before it ends; after so many strikes none is."""
    journal = Journal(out)
    for strikes in itertools.count():
        process = begun(command)
        try:
            process.wait(draws.uniform(0, most_seconds) if strikes < most_strikes else None)
            expect(process.returncode == 0, f"exit code {process.returncode} of {' '.join(command)}")
            break
        except subprocess.TimeoutExpired:
            strike(process, name)
        journal.look()
    expect(not journal.path.exists(), f"{journal.path} is left")


def rank_processes(launcher):
    """The processes of an MPI job, by rank: those that mpirun has started so far."""
    ranks = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) != launcher:
                continue
            variables = (stat.parent / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        ranks.update({int(variable.partition(b"=")[2]): int(stat.parent.name) for variable in variables
                      if variable.startswith(b"OMPI_COMM_WORLD_RANK=")})
    return ranks


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def strike_rank(process, name):
    """Kills a rank, leader or not, or the launcher; then all others must end, and soon."""
    global longest_wait
    ranks = rank_processes(process.pid)
    victim = draws.choice([*sorted(ranks), "launcher"])
    who = {0: "leader", "launcher": "launcher"}.get(victim, "other rank")
    begin = time.monotonic()
    try:
        os.kill(ranks.get(victim, process.pid), signal.SIGKILL)
    except ProcessLookupError:  # it has ended by itself
        process.wait()
        return
    kills[f"{name}, {who}"] += 1
    limit = 10 + mpi_seconds + 5  # 10: while MPI begins; 5: to end on a busy machine
    others = [pid for rank, pid in ranks.items() if rank != victim]
    while any(map(is_alive, others)) and time.monotonic() - begin < limit:
        time.sleep(0.01)
    waited = time.monotonic() - begin
    longest_wait = max(longest_wait, waited)
    hanging = [rank for rank, pid in ranks.items() if rank != victim and is_alive(pid)]
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:  # Open MPI 4.1.4 does not always end when all its ranks have
        left_launchers.append(name)
    for pid in filter(is_alive, [*ranks.values(), process.pid]):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    expect(not hanging, f"SIGKILL for the {who} ({name}), and after {waited:.1f} s there are still {hanging}")


def seconds_of(command):
    begin = time.monotonic()
    expect(begun(command).wait() == 0, "a run that nobody disturbs fails")
    return time.monotonic() - begin


def fresh(name):
    """A file to write, in an empty folder."""
    shutil.rmtree(folder / "struck", ignore_errors=True)
    (folder / "struck").mkdir()
    return folder / "struck" / name


def expect_the_same(out, beside=()):
    expect(content(out) == whole[out.suffix], f"{out} is not what an undisturbed run writes")
    left = {path.name for path in out.parent.iterdir()} - {out.name, *beside}
    expect(not left, f"left beside {out}: {left}")


def trial_of_file(ending):
    out = fresh("rows" + ending)
    run_to_the_end([*sweep, "--jobs", "2", "--resume", "--out", str(out)], out, seconds, strike_process, ending)
    expect_the_same(out)


def trial_of_shards():
    out = fresh("rows.csv")
    shards = [out.with_name(f"{number}.shard") for number in (1, 2)]
    for number, shard in enumerate(shards, 1):
        run_to_the_end([*sweep, "--shard", f"{number}/2", "--resume", "--out", str(shard)], shard, seconds,
                       strike_process, "shards")
    run_to_the_end([program, "merge", str(out), *map(str, shards)], out, 2 * merge_seconds, strike_process, "merge")
    expect_the_same(out, beside=[shard.name for shard in shards])


def trial_of_mpi():
    out = fresh("rows.csv")
    run_to_the_end([*mpirun, *sweep, "--resume", "--out", str(out)], out, mpi_seconds, strike_rank, "MPI")
    expect_the_same(out)


def processes_about(text):
    """Those whose command line has this in it, but this one."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def jobs_in_slurm():
    return subprocess.run(["squeue", "--me", "--noheader", "--format=%F"], check=True, capture_output=True, text=True).stdout


def trial_of_slurm():
    """Any process of the array is struck, its scripts and the merge, too, and it is submitted until the result is there."""
    out, strikes = fresh("rows.csv"), 0
    while not out.exists():
        expect(begun([*sweep, "--submit", "slurm", "--shards", "6", "--out", str(out)]).wait() == 0, "it is not submitted")
        while jobs_in_slurm():
            time.sleep(draws.uniform(0, 0.5))
            victims = processes_about(f"{out}.shards")
            if victims and strikes < most_strikes and draws.random() < 0.5:
                try:
                    os.kill(draws.choice(victims), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                kills["Slurm"] += 1
                strikes += 1
    expect_the_same(out, beside=[out.name + ".shards"])


shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
whole = {}
for ending in (".csv", ".jsonl", ".sqlite"):
    seconds = seconds_of([*sweep, "--jobs", "2", "--out", "whole" + ending])
    whole[ending] = content(folder / ("whole" + ending))
    expect(len(whole[ending]) > 0, "an empty result")
seconds_of([*sweep, "--shard", "1/1", "--out", "whole.shard"])
merge_seconds = seconds_of([program, "merge", "merged.csv", "whole.shard"])
while sum(kills.values()) < arguments.kills:
    draws.choice([*[lambda ending=ending: trial_of_file(ending) for ending in whole], trial_of_shards])()
has_mpi = shutil.which("mpirun") and subprocess.run(
    [*mpirun, *sweep, "--out", "mpi.csv"], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0
if has_mpi:
    mpi_seconds = seconds_of([*mpirun, *sweep, "--out", "mpi.csv"])
    while sum(kills.values()) < arguments.kills + arguments.mpi_kills:
        trial_of_mpi()
while kills["Slurm"] < arguments.slurm_kills:
    trial_of_slurm()
for name, count in sorted(kills.items()):
    print(f"{count:5} {name}")
print(f"{sum(kills.values())} kills: no row lost, doubled or changed"
      + (f"; after a strike the others end within {longest_wait:.1f} s, where a whole job takes {mpi_seconds:.1f} s" if longest_wait else ""))
if left_launchers:
    print(f"{len(left_launchers)} times mpirun stayed when all ranks had left")
if not has_mpi:
    print("skipped: mpirun is missing, or weft was built without MPI")
    sys.exit(77)
