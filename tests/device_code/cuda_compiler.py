"""The CUDA compilers at hand, and one file's way through one of them."""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import tempfile

# A file that keeps the compiler busier than this is beyond what anyone will wait for.
LIMIT_SECONDS = 400

# Host compilers that provide the C++ library, the default one first: an nvcc may be too old for it.
HOST_COMPILERS = (None, "g++-13", "g++-12", "g++-11")
PROBE = "#include <bit>\n#include <string>\n__global__ void probe() {}\n"


@dataclasses.dataclass(frozen=True)
class CudaCompiler:
    path: str
    version: tuple
    architectures: frozenset
    host_compiler: str | None = None

    @property
    def release(self):
        return ".".join(map(str, self.version))

    def compile(self, source, architecture, options):
        """Whether `source` becomes machine code, and what the compiler says of it."""
        with tempfile.TemporaryDirectory() as folder:
            words = [self.path, f"-arch=sm_{architecture}", *options, "-cubin", "-Xptxas=--verbose",
                     "-o", str(pathlib.Path(folder) / "code.cubin"), str(source)]
            if self.host_compiler:
                words += ["-ccbin", self.host_compiler]
            try:
                compiled = subprocess.run(words, text=True, capture_output=True,
                                          timeout=LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                return False, f"error: the compiler had not ended after {LIMIT_SECONDS} s"
        return compiled.returncode == 0, compiled.stdout + compiled.stderr


def said_by(command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def compiles(compiler):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "probe.cu"
        source.write_text(PROBE)
        return compiler.compile(source, max(compiler.architectures), ["-std=c++20"])[0]


def cuda_compiler(path):
    """The nvcc of this path or name, if it compiles C++20 here; none otherwise."""
    found = shutil.which(path)
    if found is None:
        return None
    version = re.search(r"release (\d+)\.(\d+)", said_by([found, "--version"]))
    architectures = re.findall(r"sm_(\d+)\b", said_by([found, "--list-gpu-code"]))
    for host_compiler in HOST_COMPILERS:
        compiler = CudaCompiler(found, tuple(map(int, version.groups())),
                                frozenset(map(int, architectures)), host_compiler)
        if compiles(compiler):
            return compiler
    return None


def newest_for(architecture, compilers):
    """The newest compiler that compiles for `architecture`; none where there is none."""
    able = [compiler for compiler in compilers if architecture in compiler.architectures]
    return max(able, key=lambda compiler: compiler.version, default=None)
