"""The Python module against the command: equal figures, and what a user of Python would expect besides."""

import ctypes
import gc
import json
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import weft

ROOT = pathlib.Path(os.environ["WEFT_SOURCE_DIR"])
PROGRAM = os.environ["WEFT_PROGRAM"]
JOBS = ROOT / "workloads" / "jobs"
SMALL = JOBS / "frontier-gpt-neox-20b-3d.json"


def command(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout


def without_wall(told):
    """All but the one figure that may differ between two runs."""
    if isinstance(told, dict):
        return {key: without_wall(value) for key, value in told.items() if key not in ("wall_time_s", "wall_s")}
    return told


class SameAsTheCommand(unittest.TestCase):
    def same(self, text, *words):
        code, printed = command(*words)
        self.assertIn(code, (0, 4))
        self.assertEqual(json.dumps(without_wall(json.loads(text))), json.dumps(without_wall(json.loads(printed))))

    def test_every_shipped_job(self):
        for job in sorted(JOBS.glob("*.json")):
            with self.subTest(job.name):
                self.same(weft.simulate(job).json, "simulate", job, "--json")

    def test_overrides_and_dicts(self):
        told = json.loads(weft.simulate(json.loads(strip(SMALL)), {"batch": {"micro": 2}}).json)
        _, printed = command("simulate", SMALL, "--set", "batch.micro=2", "--json")
        self.assertEqual(told["step"], json.loads(printed)["step"])

    def test_without_a_file(self):
        job = {"machine": "dgx-h100", "nodes": 16, "model": "llama3-8b", "overrides": {"zero": 1, "layout.tensor": 2}}
        words = ("--machine", "dgx-h100", "--nodes", 16, "--model", "llama3-8b", "--set", "zero=1", "--set", "layout.tensor=2")
        self.assertEqual(weft.simulate(**job).step, json.loads(command("simulate", *words, "--json")[1])["step"])
        self.assertTrue(weft.Study(**job).notes)

    def test_foreign_machines_of_a_warm_study(self):
        study = weft.Study(SMALL)
        step = study.run({"machine": "lumi-g", "recompute": "none"})
        self.same(step.json, "simulate", SMALL, "--set", "machine=lumi-g", "--set", "recompute=none", "--json")

    def test_plan_and_explain(self):
        found = weft.plan(SMALL, fix={"layout.context": 1, "layout.tensor": 8}, jobs=2)
        _, printed = command("plan", SMALL, "--fix", "layout.context=1", "--fix", "layout.tensor=8", "--json")
        self.assertEqual(found.search, json.loads(printed))
        explained = weft.explain(SMALL, jobs=2)
        self.assertEqual(dict(explained), json.loads(command("explain", SMALL, "--json")[1]))
        steps = [row.step_s for row in explained.what_if]
        self.assertEqual(steps, sorted(steps))

    def test_sweep(self):
        table = weft.sweep(SMALL, vary={"batch.micro": [1, 2], "batch.sequence": "1024,2048"}, jobs=2)
        _, printed = command("sweep", SMALL, "--vary", "batch.micro=1,2", "--vary", "batch.sequence=1024,2048", "--json")
        self.assertEqual([{key: cell for key, cell in row.items() if cell is not None} for row in table],
                         [{key: cell for key, cell in json.loads(line).items() if key != "schema"}
                          for line in printed.splitlines()])
        self.assertEqual(list(table.to_pandas().columns), table.columns)

    def test_collective(self):
        rows = weft.collective("all_reduce", machine="frontier", ranks=64, sizes=[2**20, 2**30])
        _, printed = command("collective", "all_reduce", "--machine", "frontier", "--ranks", 64, "--sizes", "1M,1G", "--json")
        self.assertEqual([dict(row) for row in rows], json.loads(printed)["rows"])


TRACE = os.path.join(ROOT, "tests/workloads/formats/seeds/kineto.json")


class Traces(unittest.TestCase):
    def test_a_recorded_step_beside_the_simulated_one(self):
        found = weft.compare(SMALL, TRACE)
        self.assertEqual(found.step, "ProfilerStep#3")
        recorded = sum(row["exposed_fs_recorded"] for row in found.classes) + sum(row["time_fs_recorded"] for row in found.gaps)
        self.assertEqual(recorded, found.step_fs[0])
        with self.assertRaises(weft.ConfigError):
            weft.compare(SMALL, __file__)

    def test_a_program_on_a_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            command("export", SMALL, "--format", "chakra", "--out", folder)
            files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
            done = weft.replay(files, "frontier")
            self.assertAlmostEqual(done.step.time_s / weft.simulate(SMALL).step.time_s, 1, delta=0.01)
            self.assertEqual(len(done.ranks), len(files) - 1)
            self.assertLess(weft.replay(files, "frontier", compute=0.5).step.time_s, done.step.time_s)


class Timelines(unittest.TestCase):
    def test_columns_are_read_only_and_whole(self):
        step = weft.simulate(SMALL)
        timeline = step.timeline
        self.assertEqual(timeline.end.max(), step.step.time_s)
        self.assertTrue((timeline.posted <= timeline.begin).all() and (timeline.begin <= timeline.end).all())
        with self.assertRaises(ValueError):
            timeline.end[0] = 0
        self.assertFalse(timeline.begin.flags.owndata)
        frame = timeline.to_pandas()
        self.assertIn("compute", set(frame.lane))
        begin = timeline.begin
        del timeline, step, frame
        self.assertGreaterEqual(begin.min(), 0.0)  # the memory is still there


class Mistakes(unittest.TestCase):
    def test_all_of_them_with_the_nearest_names(self):
        with self.assertRaises(weft.ConfigError) as caught:
            weft.simulate(SMALL, {"machine": "frontire", "layout.tensr": 8})
        found = {each.key: each.suggestions for each in caught.exception.diagnostics}
        self.assertEqual(found, {"machine": ["frontier"], "layout.tensr": ["tensor"]})
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(again.diagnostics, caught.exception.diagnostics)

    def test_unknown_keys_and_options(self):
        for wrong in (lambda: weft.simulate(SMALL, {"layout.tensr": 8}), lambda: weft.simulate(SMALL, {"batch.micro": -1}),
                      lambda: weft.simulate(SMALL, network="fast"), lambda: weft.simulate("no such file.json"),
                      lambda: weft.collective("all_reduce", machine="frontier", ranks=4, size="1M"),
                      lambda: weft.sweep(SMALL, where="1 +"), lambda: weft.load("no such model")):
            with self.assertRaises(weft.ConfigError):
                wrong()

    def test_what_does_not_fit(self):
        step = weft.simulate(machine="frontier", nodes=1, model="gpt-neox-20b", overrides={"batch.sequence": 65536})
        self.assertFalse(step.memory.fits)
        with self.assertRaises(weft.DoesNotFit):
            step.step
        self.assertFalse(hasattr(step, "throughput"))


class Objects(unittest.TestCase):
    def test_pickles(self):
        study = pickle.loads(pickle.dumps(weft.Study(SMALL, {"batch.micro": 2})))
        step = study.run()
        self.assertEqual(pickle.loads(pickle.dumps(step)).step, step.step)
        table = study.sweep({"batch.sequence": [1024, 2048]})
        self.assertEqual(pickle.loads(pickle.dumps(table)), table)

    def test_shows_itself(self):
        step = weft.simulate(SMALL)
        self.assertIn("<iframe", step._repr_html_())
        self.assertIn("step", repr(step))

    def test_loads_what_import_reads(self):
        self.assertGreater(weft.load("gpt-neox-20b").parameters, 20e9)

    def test_names(self):
        self.assertIn("frontier", weft.machines())
        self.assertIn("gpt-neox-20b", weft.models())


class Threads(unittest.TestCase):
    def test_equal_figures_from_several(self):
        study = weft.Study(SMALL)
        alone = study.run({"batch.micro": 2}, folding="stages").step.time_s
        found = []
        threads = [threading.Thread(target=lambda: found.append(study.run({"batch.micro": 2}, folding="stages").step.time_s)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [alone] * 8)

    def test_progress_is_heard_and_may_end_the_work(self):
        heard = []
        weft.sweep(SMALL, vary={"batch.micro": [1, 2]}, progress=lambda done, count: heard.append((done, count)))
        self.assertEqual(heard[-1], (2, 2))

        def refuse(done, count):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            weft.sweep(SMALL, vary={"batch.micro": [1, 2]}, progress=refuse)

    def test_ctrl_c_interrupts(self):
        points = {"batch.sequence": "512..800512+8"}  # of minutes
        script = f"import weft; print('ready', flush=True); weft.sweep({str(SMALL)!r}, {points})"
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", errors)


class Memory(unittest.TestCase):
    """WEFT_MEMORY_RUNS=100000 lets it take its time, and tells what was found."""

    RUNS = int(os.environ.get("WEFT_MEMORY_RUNS", 300))
    TINY = {"machine": "dgx-h100", "nodes": 1, "framework": "megatron",
            "model": {"layers": 2, "hidden": 256, "heads": 8, "vocabulary": 1024},
            "layout": {"tensor": 2, "data": 4}, "batch": {"sequence": 128, "micro": 1, "global": 8}}

    class InUse(ctypes.Structure):  # mallinfo2(3)
        _fields_ = [(name, ctypes.c_size_t) for name in
                    ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]

    def in_use(self):
        """Bytes of this thread's heap, blocks of Python's."""
        gc.collect()
        told = self.told()
        return told.uordblks + told.hblkhd, sys.getallocatedblocks()

    def stays(self, runs, run):
        for _ in range(min(runs, 500)):  # what is kept between calls is kept by then
            run()
        bytes_before, blocks_before = self.in_use()
        for _ in range(runs):
            run()
        bytes_after, blocks_after = self.in_use()
        if "WEFT_MEMORY_RUNS" in os.environ:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            print(f"{runs} runs: {bytes_after - bytes_before} bytes, {blocks_after - blocks_before} blocks; {peak} KiB at most")
        self.assertLess(bytes_after - bytes_before, 100 * runs)
        self.assertLess(blocks_after - blocks_before, runs)

    def setUp(self):
        libc = ctypes.CDLL(None)
        if not hasattr(libc, "mallinfo2"):
            self.skipTest("a C library without mallinfo2")
        libc.mallinfo2.restype = self.InUse
        self.told = libc.mallinfo2

    def test_of_a_warm_study_stays(self):
        study = weft.Study(self.TINY)
        self.stays(self.RUNS, lambda: study.run({"batch.micro": 2}).to_dict())

    def test_of_calls_stays(self):
        self.stays(self.RUNS // 5, lambda: weft.simulate(self.TINY).to_dict())

    def test_of_mistakes_stays(self):
        study = weft.Study(self.TINY)

        def mistaken():
            with self.assertRaises(weft.ConfigError):
                study.run({"layout.tensr": 2})

        self.stays(self.RUNS, mistaken)


def strip(path):
    """Comments out of a job file."""
    lines = path.read_text().splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//"))


if __name__ == "__main__":
    unittest.main()
