# Spack recipe. In a repository of recipes it is packages/weft/package.py; the checksum is of the tarball of a release, as
# tools/packages/source-tarball writes it.
from spack.package import *


class Weft(CMakePackage):
    """Discrete-event simulator of distributed transformer training."""

    url = "file:///weft-0.2.0.tar.gz"  # where the tarball is

    license("Apache-2.0")

    version("0.2.0")

    variant("mpi", default=True, description="Spread sweeps over the ranks of an MPI job")
    variant("python", default=False, description="Build the Python module")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("boost@1.74: +program_options+graph")
    depends_on("nlohmann-json@3.10:")
    depends_on("ceres-solver@2.0:")
    depends_on("fmt@8:")
    depends_on("zlib-api")
    depends_on("sqlite@3.37:")
    depends_on("yaml-cpp@0.7:")
    depends_on("pugixml@1.12:")
    depends_on("tomlplusplus@3.3:")
    depends_on("mpi", when="+mpi")
    depends_on("boost@1.74: +mpi+serialization", when="+mpi")
    depends_on("python@3.9:", when="+python", type=("build", "link", "run"))
    depends_on("py-pybind11@2.9:", when="+python", type="build")

    extends("python", when="+python")
    generator("ninja")

    def cmake_args(self):
        args = [self.define_from_variant("WEFT_MPI", "mpi"), self.define_from_variant("WEFT_PYTHON", "python")]
        if self.spec.satisfies("+python"):
            args.append(self.define("WEFT_PYTHON_FOLDER", python_platlib))
        return args
