"""Builds the module with CMake, out of the source tree that this folder is part of: pip install ./tools/python"""

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


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        if lacking := missing():
            raise SystemExit(f"weft needs {', '.join(lacking)}: apt install {' '.join(lacking)}")
        print("weft is built from its C++ sources: some ten minutes on two cores, pip --verbose shows how far it is")
        folder = root / "build" / "python-{}.{}".format(*sys.version_info)
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        configure = ["cmake", "-S", root, "-B", folder, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DWEFT_PYTHON=ON"]
        unity = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=64", "-DWEFT_MPI=OFF"]
        subprocess.check_call([*map(str, configure), *unity, f"-DPython3_EXECUTABLE={sys.executable}"])
        subprocess.check_call(["cmake", "--build", str(folder), "--target", "weft_python", "--parallel"])
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        (built,) = (folder / "python" / "weft").glob("_weft*.so")
        shutil.copy2(built, target)


version = re.search(r"project\(weft VERSION (\S+)", (root / "CMakeLists.txt").read_text()).group(1)
setup(version=version, ext_modules=[Extension("weft._weft", [])], cmdclass={"build_ext": CMakeBuild})
