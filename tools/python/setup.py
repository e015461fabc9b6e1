"""Builds the module with CMake: pip install ./tools/python

Against an installed weft of this version where CMake finds one, in half a minute; otherwise, or where WEFT_SOURCE says
where the sources are, with all of weft out of the source tree that this folder is part of. What it loads goes with it,
so that wheels run where there is neither weft nor a compiler.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = pathlib.Path(__file__).resolve().parent
root = pathlib.Path(os.environ.get("WEFT_SOURCE", here.parent.parent))


def missing():
    """Debian's packages that building needs and that are not there, by tools/packages.sh; elsewhere nobody knows."""
    if not shutil.which("dpkg-query") or os.environ.get("CMAKE_PREFIX_PATH"):
        return []
    asked = 'source "$0" && missing_packages "${program_packages[@]}" pybind11-dev python3-dev'
    script = root / "tools" / "packages.sh"
    return subprocess.run(["bash", "-c", asked, script], capture_output=True, text=True).stdout.split()


def configure(source, folder, *choices):
    """What the module loads is found beside it, and so is what that loads (DT_RPATH, not DT_RUNPATH)."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    words = ["cmake", "-S", str(source), "-B", str(folder), *generator, "-DCMAKE_BUILD_TYPE=Release", *choices]
    beside = ["-DCMAKE_INSTALL_RPATH=$ORIGIN/libraries", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"]
    beside.append("-DCMAKE_MODULE_LINKER_FLAGS=-Wl,--disable-new-dtags")
    return [*words, *beside, f"-DPython3_EXECUTABLE={sys.executable}"]


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        folder = root / "build" / "python-{}.{}".format(*sys.version_info)
        beside, installed = folder.with_name(folder.name + "-module"), pathlib.Path()
        if "WEFT_SOURCE" not in os.environ and shutil.which("cmake"):
            shutil.rmtree(beside, ignore_errors=True)
            against = configure(here, beside, f"-DWEFT_VERSION={version}")
            if subprocess.run(against, capture_output=True).returncode == 0:
                cache = (beside / "CMakeCache.txt").read_text()
                installed = pathlib.Path(re.search(r"^weft_DIR:PATH=(.*)$", cache, re.M).group(1)).parent.parent
                folder = beside
                print(f"weft is taken from {installed}")
        if folder != beside:
            if lacking := missing():
                raise SystemExit(f"weft needs {', '.join(lacking)}: apt install {' '.join(lacking)}")
            print("weft is built from its C++ sources: some ten minutes on two cores, pip --verbose shows how far it is")
            unity = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=64", "-DWEFT_MPI=OFF"]
            subprocess.check_call(configure(root, folder, "-DWEFT_PYTHON=ON", *unity))
        subprocess.check_call(["cmake", "--build", str(folder), "--target", "weft_python", "--parallel"])
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        (built,) = (folder / "python" / "weft").glob("_weft*.so")
        shutil.copy2(built, target)
        said = [f"-DMODULE={built}", f"-DFROM={installed}", f"-DINTO={target.parent / 'libraries'}"]
        subprocess.check_call(["cmake", *said, "-P", str(here / "bundle.cmake")])


version = re.search(r"project\(weft VERSION (\S+)", (root / "CMakeLists.txt").read_text()).group(1)
setup(version=version, ext_modules=[Extension("weft._weft", [])], cmdclass={"build_ext": CMakeBuild})
