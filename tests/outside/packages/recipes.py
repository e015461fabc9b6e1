"""recipes.py ROOT: the Spack recipe asks for what CMake looks for, in the same versions; the shell in the Containerfile and
in the Apptainer definition can be read, and what they copy and call is there. Neither Spack nor containers are needed."""

import pathlib
import re
import subprocess
import sys
import types

root = pathlib.Path(sys.argv[1])
packages = root / "tools" / "packages"
spack_names = {
    "Boost": "boost", "nlohmann_json": "nlohmann-json", "Ceres": "ceres-solver", "fmt": "fmt", "ZLIB": "zlib-api",
    "SQLite3": "sqlite", "yaml-cpp": "yaml-cpp", "pugixml": "pugixml", "tomlplusplus": "tomlplusplus", "MPI": "mpi",
    "Python3": "python", "pybind11": "py-pybind11",
}
without_recipe = {"Threads", "weft"}  # of the C library; what the Python module may be built on
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def sought():
    """What CMake looks for, with the least version, by Spack's names."""
    found = {}
    for file in ("CMakeLists.txt", "tools/cmake/WeftTargets.cmake", "tools/python/CMakeLists.txt"):
        for name, version in re.findall(r"^ *find_package\((\S+)(?: ([0-9.]+))?[ )]", (root / file).read_text(), re.M):
            if name not in without_recipe:
                found.setdefault(spack_names[name], set()).add(version)
    return found


class Recipe:
    """A recipe run with Spack's words as functions that take notes."""

    def __init__(self, path):
        self.depends, self.variants, self.versions = {}, {}, []
        words = types.ModuleType("spack.package")
        words.CMakePackage = object
        words.depends_on = lambda spec, **how: self.note(spec, how)
        words.variant = lambda name, **how: self.variants.update({name: how})
        words.version = lambda number, **how: self.versions.append(number)
        words.extends = words.license = words.generator = lambda *_, **__: None
        sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), words
        exec(compile(path.read_text(), str(path), "exec"), {})

    def note(self, spec, how):
        name, version = re.match(r"([a-z0-9-]+)(?:@([0-9.]+):)?", spec).groups()
        self.depends.setdefault(name, set()).add((version or "", how.get("when", "")))


recipe = Recipe(packages / "package.py")
cmake = sought()
build_tools = {"cxx", "cmake", "ninja"}
expect(set(recipe.depends) - build_tools == set(cmake),
       f"package.py depends on {sorted(set(recipe.depends) - build_tools)}, CMake looks for {sorted(cmake)}")
for name, versions in cmake.items():
    asked = {version for version, _ in recipe.depends.get(name, ())}
    expect(asked == versions, f"package.py: {name} {sorted(asked)}, CMake: {sorted(versions)}")
least = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", (root / "CMakeLists.txt").read_text()).group(1)
expect((least, "") in recipe.depends["cmake"], f"package.py: cmake {recipe.depends['cmake']}, CMakeLists.txt: {least}")
version = re.search(r"project\(weft VERSION (\S+)", (root / "CMakeLists.txt").read_text()).group(1)
expect(version in recipe.versions, f"package.py has no version {version}")
expect(set(recipe.variants) == {"mpi", "python"}, f"variants {sorted(recipe.variants)}")
for option in ("WEFT_MPI", "WEFT_PYTHON", "WEFT_PYTHON_FOLDER"):
    expect(option in (packages / "package.py").read_text(), f"package.py does not set {option}")


def readable(name, shell):
    said = subprocess.run(["bash", "-n"], input=shell, capture_output=True, text=True)
    expect(said.returncode == 0, f"{name}: {said.stderr}")
    for file in re.findall(r"tools/[\w./-]+", shell):
        expect((root / file).exists(), f"{name}: there is no {file}")
    for preset in re.findall(r"--preset (\w+)", shell):
        expect(f'"name": "{preset}"' in (root / "CMakePresets.json").read_text(), f"{name}: no preset {preset}")


container = re.sub(r"\\\n", " ", (packages / "Containerfile").read_text())
instructions = [line.split(None, 1) for line in container.splitlines() if line and not line.startswith("#")]
expect(instructions[0][0] == "FROM" and instructions[-1][0] == "ENTRYPOINT", "Containerfile: FROM ... ENTRYPOINT")
for word, rest in instructions:
    expect(word in {"FROM", "COPY", "WORKDIR", "RUN", "ENTRYPOINT"}, f"Containerfile: {word}")
    if word == "RUN":
        readable("Containerfile", rest)

sections = re.split(r"^%(\w+).*\n", (packages / "weft.def").read_text(), flags=re.M)
expect(sections[1::2] == ["files", "post", "runscript", "test"], f"weft.def has {sections[1::2]}")
for name, text in zip(sections[1::2], sections[2::2]):
    if name != "files":
        readable(f"weft.def, %{name}", text)

print("\n".join(failures) or f"{len(recipe.depends)} dependencies, {len(instructions)} instructions, 4 sections")
sys.exit(bool(failures))
