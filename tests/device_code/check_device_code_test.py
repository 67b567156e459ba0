#!/usr/bin/env python3
"""Shows that check_device_code.py reads what ptxas says, and finds errors and spills."""

import contextlib
import csv
import io
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import check_device_code
import cuda_compiler
import kernel_usage
import report

LOG = """\
ptxas info    : 8 bytes gmem
ptxas info    : Compiling entry function '_ZN1a6kernelIjLb1EEEvPT_' for 'sm_70'
ptxas info    : Function properties for _ZN1a6kernelIjLb1EEEvPT_
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 98 registers, 40 bytes cumulative stack size, 2648 bytes smem
ptxas info    : Function properties for _ZN1a6calledEv
    0 bytes stack frame, 12 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function '_ZN1a5plainEv' for 'sm_70'
ptxas info    : Function properties for _ZN1a5plainEv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, 352 bytes cmem[0]
"""

TIDY = """
#include <cstdint>
__global__ void tidy(std::uint32_t* x) { x[threadIdx.x] += 1; }
"""

# 64 numbers alive at once, in the 32 registers that a thread of 2048 may have.
SPILLING = """
__global__ void __launch_bounds__(1024, 2) spilling(const float* x, float* y) {
  float kept[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) kept[i] = x[threadIdx.x + 1024 * i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i) y[threadIdx.x + 1024 * i] = kept[i] * kept[63 - i];
}
"""


class KernelUsage(unittest.TestCase):
    def test_names(self):
        for demangled, short in {
            "void warpfold::cuda::kernels::(anonymous namespace)::fold<unsigned char, (bool)1>"
            "(warpfold::cuda::View, __int128 const*)": "fold<u8, true>",
            "a::(anonymous namespace)::starts(a::Carry, unsigned long)": "starts",
            "void a::scan<a::Sum<short, long>, a::Shape<15, 4u> >(a::Scan<a::Sum<short, long> >)":
                "scan<Sum<i16, i64>, Shape<15, 4u>>",
            "void a::f<warpfold::Float16Bits<7>, (int)3>(void (*)(int))": "f<bf16, 3>",
        }.items():
            self.assertEqual(kernel_usage.short_name(demangled), short)

    def test_log(self):
        kernel, plain = kernel_usage.parse(LOG, "a.cu", 70, "12.4")
        self.assertEqual(kernel, kernel_usage.KernelUsage(
            "a.cu", "kernel<u32, true>", 70, "12.4", registers=98, static_shared_bytes=2648,
            stack_bytes=40, spill_store_bytes=16, spill_load_bytes=8))
        self.assertEqual(plain, kernel_usage.KernelUsage("a.cu", "plain", 70, "12.4", registers=8))
        self.assertTrue(kernel.spills)
        self.assertFalse(plain.spills)

    def test_log_of_several_architectures(self):
        both = LOG + LOG.replace("sm_70", "sm_90").replace("Used 8", "Used 10")
        self.assertEqual([usage.registers for usage in kernel_usage.parse(both, "a.cu", 90, "13.0")],
                         [98, 10])


class Report(unittest.TestCase):
    USAGES = [
        kernel_usage.KernelUsage("a.cu", "fold<u8>", 70, "12.4", 40, 128),
        kernel_usage.KernelUsage("a.cu", "fold<u8>", 80, "13.0", 38, 128),
        kernel_usage.KernelUsage("a.cu", "fold<i8>", 70, "12.4", 40, 128),
        kernel_usage.KernelUsage("a.cu", "fold<i8>", 80, "13.0", 38, 128),
        kernel_usage.KernelUsage("a.cu", "starts", 70, "12.4", 9, 0, 16, 4, 8),
        kernel_usage.KernelUsage("a.cu", "starts", 80, "13.0", 9, 0, 16, 0, 0),
    ]

    def test_equal_instantiations_share_a_row(self):
        self.assertEqual(report.markdown(self.USAGES).splitlines()[-2:], [
            "| `fold` | `i8; u8` | 40 / 38 | 128 | 0 | 0 |",
            "| `starts` |  | 9 | 0 | 16 | 12 / 0 |",
        ])

    def test_operators_are_named_once(self):
        self.assertEqual(report.without_repetition("Sum<u8, u64>, Shape<Sum<u8, u64>, 8>"),
                         "Sum<u8, u64>, Shape<8>")
        self.assertEqual(report.without_repetition("Sum<u8, u64>"), "Sum<u8, u64>")

    def test_a_line_for_each_file_and_architecture(self):
        self.assertEqual([line.split() for line in report.file_table(self.USAGES).splitlines()[1:]],
                         [["a.cu", "sm_70", "12.4", "3", "40", "128", "16", "1"],
                          ["a.cu", "sm_80", "13.0", "3", "38", "128", "16", "0"]])

    def test_what_is_written_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernels.csv"
            report.write_csv(path, self.USAGES)
            self.assertEqual(report.read_csv(path), self.USAGES)


class Compilers(unittest.TestCase):
    def test_newest_that_knows(self):
        old = cuda_compiler.CudaCompiler("old", (12, 9), frozenset({70, 80, 90}))
        new = cuda_compiler.CudaCompiler("new", (13, 0), frozenset({80, 90}))
        self.assertEqual(cuda_compiler.newest_for(70, [old, new]), old)
        self.assertEqual(cuda_compiler.newest_for(80, [old, new]), new)
        self.assertIsNone(cuda_compiler.newest_for(60, [old, new]))


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.nvcc = os.environ.get("NVCC", "nvcc")
        if cuda_compiler.cuda_compiler(cls.nvcc) is None:
            raise unittest.SkipTest("no nvcc here")

    def check(self, files, *options, environment=None, folder=None):
        """The exit status, what was said, and the kernels written, for a tree of these files, made
        in this order, in a folder of its own or a given one."""
        with contextlib.ExitStack() as stack:
            folder = folder or stack.enter_context(tempfile.TemporaryDirectory())
            root = pathlib.Path(folder)
            for second, (name, text) in enumerate(files.items()):
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                os.utime(path, (second, second))
            written = root / "report" / "kernels.csv"
            words = ["check", str(written.parent), "--root", folder, "--nvcc", self.nvcc,
                     "--architectures", "80", "--built", str(root / "build"), *options]
            said = io.StringIO()
            with mock.patch.object(sys, "argv", words), \
                 mock.patch.dict(os.environ, environment or {}), \
                 contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                status = check_device_code.main()
            table = written.read_text() if written.exists() else ""
            return status, said.getvalue(), list(csv.DictReader(io.StringIO(table)))

    def test_kernels_of_all_folders(self):
        status, said, rows = self.check({
            "src/cuda/kernels/a.cu": TIDY,
            "src/bench/ladder/b.cu": TIDY,
            "src/bench/kernels/c.cu": TIDY,
            "src/bench/d.cu": "#include <cub/absent.cuh>\n",
        })
        self.assertEqual(status, 0, said)
        self.assertEqual([(row["file"], row["kernel"]) for row in rows],
                         [("src/cuda/kernels/a.cu", "tidy"), ("src/bench/kernels/c.cu", "tidy"),
                          ("src/bench/ladder/b.cu", "tidy")])

    def test_a_production_kernel_may_not_spill(self):
        status, said, rows = self.check({"src/cuda/kernels/a.cu": SPILLING})
        self.assertEqual(status, 1)
        self.assertIn("spilling spills on sm_80", said)
        self.assertGreater(int(rows[0]["spill_store_bytes"]), 0)

    def test_a_rung_may_spill(self):
        status, said, rows = self.check({
            "src/cuda/kernels/a.cu": TIDY,
            "src/bench/ladder/b.cu": SPILLING,
        })
        self.assertEqual(status, 0, said)
        self.assertGreater(int(rows[1]["spill_store_bytes"]), 0)

    def test_an_error(self):
        status, said, _ = self.check({
            "src/cuda/kernels/a.cu": TIDY,
            "src/bench/ladder/b.cu": "__global__ void wrong() { absent(); }\n",
        })
        self.assertEqual(status, 1)
        self.assertIn("src/bench/ladder/b.cu does not compile for sm_80", said)

    def test_what_a_build_compiled_is_not_compiled_again(self):
        source = {"src/cuda/kernels/a.cu": "not C++"}
        log = {"build/src/CMakeFiles/b.dir/cuda/kernels/a.cu.o.ptxas": LOG.replace("70", "80")}
        status, said, rows = self.check(source | log)
        self.assertEqual((status, len(rows)), (1, 2), said)
        self.assertIn("kernel<u32, true> spills on sm_80", said)
        status, said, rows = self.check(log | source)
        self.assertEqual((status, len(rows)), (1, 0))
        self.assertIn("src/cuda/kernels/a.cu does not compile for sm_80", said)

    def test_files_that_a_build_compiles_as_one(self):
        with tempfile.TemporaryDirectory() as folder:
            parts = [pathlib.Path(folder) / "src/cuda/kernels" / name for name in ("a.cu", "b.cu")]
            files = {f"src/cuda/kernels/{part.name}": TIDY.replace("tidy", part.stem) for part in parts}
            files["src/cuda/kernels/c.cu"] = TIDY
            files["build/src/cuda/kernels.cu"] = "".join(f'#include "{part}"\n' for part in parts)
            log = {"build/src/CMakeFiles/b.dir/cuda/kernels.cu.o.ptxas": LOG.replace("70", "80")}
            for tree, kernels in ((files, {"a", "b"}), (files | log, {"kernel<u32, true>", "plain"}),
                                  (log | files, {"a", "b"})):
                _, said, rows = self.check(tree, folder=folder)
                self.assertEqual({(row["file"], row["kernel"]) for row in rows},
                                 {("src/cuda/kernels.cu", kernel) for kernel in kernels} |
                                 {("src/cuda/kernels/c.cu", "tidy")}, said)
            self.assertEqual(len(self.check(files | {"src/bench/d.cu": TIDY}, folder=folder)[2]), 4)
            self.assertEqual(len(self.check({}, "--production", folder=folder)[2]), 3)

    def test_no_kernels(self):
        self.assertEqual(self.check({"src/bench/ladder/b.cu": TIDY})[0], 1)

    def test_no_compiler(self):
        for environment, expected in (({"CI": ""}, 77), ({"CI": "true"}, 1)):
            status, said, _ = self.check({"src/cuda/kernels/a.cu": TIDY}, "--architectures", "10",
                                         environment=environment)
            self.assertEqual(status, expected)
            self.assertIn("no compiler here for sm_10", said)


if __name__ == "__main__":
    unittest.main()
