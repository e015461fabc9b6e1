"""A wheel on an installed weft, taken to where there is neither weft nor a compiler.

    test_wheel.py BUILD SOURCE PROGRAM FOLDER
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

build, source, program, folder = map(pathlib.Path, sys.argv[1:])
folder = folder / "wheel"
shutil.rmtree(folder, ignore_errors=True)
prefix, copy, venv = folder / "prefix", folder / "source", folder / "venv"
lacking = [name for name in ("pip", "setuptools", "wheel", "ensurepip") if not importlib.util.find_spec(name)]
if lacking:
    print(f"skipped: python3 has no {', '.join(lacking)} (python3-pip, python3-wheel, python3-venv)")
    sys.exit(77)


def run(*words, **how):
    done = subprocess.run([*map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **how)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stdout}")
    return done.stdout


run("cmake", "--install", build, "--prefix", prefix)
shutil.copytree(source / "tools" / "python", copy / "tools" / "python")  # without the sources of weft
shutil.copy(source / "tools" / "packages.sh", copy / "tools")
shutil.copy(source / "CMakeLists.txt", copy)
offline = ("--no-index", "--no-deps", "--disable-pip-version-check")
start = time.monotonic()
run(sys.executable, "-m", "pip", "wheel", *offline, "--no-build-isolation", "-w", folder, copy / "tools" / "python",
    env={**os.environ, "CMAKE_PREFIX_PATH": str(prefix)})  # fmt: skip
(wheel,) = folder.glob("weft-*.whl")
print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB in {time.monotonic() - start:.0f} s")
shutil.rmtree(prefix)
shutil.rmtree(copy)

run(sys.executable, "-m", "venv", venv)
alone = {"PATH": str(venv / "bin"), "HOME": str(folder)}
run(venv / "bin" / "pip", "install", *offline, wheel, env=alone, cwd=folder)
ask = """
import pathlib, shutil, sys, weft
assert not any(map(shutil.which, ("c++", "g++", "cc", "cmake", "weft"))), "it is alone"
step = weft.Study(machine="frontier", model="gpt-neox-20b", nodes=16).run({"layout.tensor": 8}).step
print(step.time_s)
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
shipped = {path.name for path in (pathlib.Path(weft.__file__).parent / "libraries").iterdir()}
assert len(shipped) > 5, shipped
strangers = [path for path in loaded if pathlib.Path(path).name in shipped and not path.startswith(sys.prefix)]
assert not strangers, strangers
"""
said = float(run(venv / "bin" / "python", "-c", ask, env=alone, cwd=folder))
words = ("--machine", "frontier", "--model", "gpt-neox-20b", "--nodes", "16", "--set", "layout.tensor=8", "--json")
told = subprocess.run([program, "simulate", *words], check=True, capture_output=True, text=True).stdout
assert said == json.loads(told)["step"]["time_s"] > 0, said
