"""The recipe of warpfold for Spack 1.0 or newer: `spack repo add jobs/spack/spack_repo/warpfold`."""

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Warpfold(CMakePackage, CudaPackage):
    """Exact reductions and prefix scans of HDF5 and netCDF-4 datasets of any size, on the cores and
    GPUs of one node or many."""

    # The repository that this recipe is part of: what is built is what is committed there.
    git = pathlib.Path(__file__).resolve().parents[6].as_uri()

    license("MIT")

    version("main", branch="main")

    variant("fortran", default=True, description="Build the Fortran module")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("hdf5@1.10.3:+hl")
    depends_on("libdeflate")
    depends_on("hwloc")
    depends_on("lz4")
    depends_on("zstd")
    depends_on("libaec")
    depends_on("c-blosc")
    depends_on("cli11", type="build")
    depends_on("fmt")
    depends_on("nlohmann-json", type="build")
    depends_on("cuda@12:", when="+cuda")

    conflicts("%gcc@:11", msg="warpfold is C++20: GCC 12 or newer compiles it")
    conflicts("%clang@:13", msg="warpfold is C++20: clang 14 or newer compiles it")
    conflicts(
        "cuda_arch=none", when="+cuda", msg="name the GPUs' architectures, such as cuda_arch=80,90"
    )

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("WARPFOLD_CUDA", "cuda"),
            self.define_from_variant("WARPFOLD_FORTRAN", "fortran"),
            self.define("WARPFOLD_TESTS", False),
            self.define("WARPFOLD_BENCHMARKS", False),
            self.define("WARPFOLD_WARNINGS_ARE_ERRORS", False),
        ]
        if self.spec.satisfies("+cuda"):
            architectures = self.spec.variants["cuda_arch"].value
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return arguments

    def test_sample(self):
        """The mean of the sample of temperatures is the one that other tools found."""
        sample = join_path(self.prefix.share, "warpfold", "samples", "sea_surface_temperature.nc")
        warpfold = Executable(self.prefix.bin.warpfold)
        found = warpfold(
            "reduce", sample, "sst", "--backend", "cpu", "--ops", "mean", output=str, error=str
        )
        assert "18.09530046794011" in found, found
