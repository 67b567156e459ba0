#!/usr/bin/env python3
"""Shows that check_layers.py finds what breaks a rule and passes what does not."""

import pathlib
import tempfile
import unittest

import check_layers

TABLE = """
[core]
layers = []
libraries = []
[core.rooms]
numeric = []
results = ["numeric"]
[io]
layers = ["core"]
libraries = ["system", "HDF5"]
[cpu]
layers = ["core"]
libraries = ["SIMD", "hwloc"]
[cuda]
layers = ["core"]
libraries = ["CUDA"]
[mpi]
layers = ["core"]
libraries = ["MPI"]
[pipeline]
layers = ["core", "io"]
libraries = ["MPI"]
[cli]
layers = ["core", "pipeline"]
libraries = ["CLI11"]
[cli.rooms]
report = []
commands = ["report"]
"""


class CheckLayers(unittest.TestCase):
    def violations(self, files, table=TABLE):
        """Returns the violations in a tree of these files, as "path:line" with the rule."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**files, "src/rooms.toml": table}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return {f"{path}:{line}": rule for path, line, rule in check_layers.violations(root)}

    def test_allowed_includes(self):
        self.assertEqual(
            self.violations({
                "include/warpfold/core/a.hpp": "#include <cstdint>\n",
                "include/warpfold/reduce.hpp": '#include <mpi.h>\n#include "warpfold/core/a.hpp"\n',
                "src/core/results/a.cpp":
                    '#include "warpfold/core/a.hpp"\n#include "core/numeric/b.hpp"\n'
                    '#include "core/results/a.hpp"\n',
                "src/io/a.cpp":
                    '#include <hdf5.h>\n#include <sys/stat.h>\n#include "core/results/b.hpp"\n',
                "src/cpu/a.cpp": "#include <immintrin.h>\n#include <hwloc.h>\n",
                "src/cuda/a.cu": '#include <cuda_runtime.h>\n#include "cuda/b.hpp"\n',
                "src/mpi/a.cpp": '#  include <mpi.h>\n#include "mpi/b.hpp"\n',
                "src/pipeline/a.cpp": '#include "io/b.hpp"\n#include "warpfold/reduce.hpp"\n',
                "src/cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "cli/commands/b.hpp"\n',
            }),
            {},
        )

    def test_a_higher_layer(self):
        found = self.violations({"src/io/a.cpp": '\n#include "pipeline/b.hpp"\n'})
        self.assertEqual(found, {"src/io/a.cpp:2": "layer io may not know layer pipeline"})

    def test_a_neighbour(self):
        found = self.violations({"src/cpu/a.hpp": '#include "cuda/b.hpp"\n'})
        self.assertEqual(found, {"src/cpu/a.hpp:1": "layer cpu may not know layer cuda"})

    def test_a_public_header_of_the_pipeline_in_core(self):
        found = self.violations({"src/core/numeric/a.cpp": '#include "warpfold/reduce.hpp"\n'})
        self.assertEqual(
            found, {"src/core/numeric/a.cpp:1": "layer core may not know layer pipeline"}
        )

    def test_a_higher_room(self):
        found = self.violations({"src/core/numeric/a.inl": '\n#include "core/results/b.hpp"\n'})
        self.assertEqual(
            found,
            {"src/core/numeric/a.inl:2": "room core/numeric may not know room core/results"},
        )

    def test_a_room_that_the_table_lacks(self):
        found = self.violations({"src/cli/extra/a.cpp": ""})
        self.assertEqual(set(found), {"src/cli/extra/a.cpp:1"})

    def test_rooms_in_a_circle(self):
        table = TABLE.replace("numeric = []", 'numeric = ["results"]')
        found = self.violations({}, table)
        self.assertEqual(
            found, {"src/rooms.toml:1": "the rooms of core go in a circle: "
                                        "numeric -> results -> numeric"}
        )

    def test_layers_in_a_circle(self):
        table = TABLE.replace('layers = []', 'layers = ["cli"]')
        self.assertIn("the layers go in a circle", self.violations({}, table)["src/rooms.toml:1"])

    def test_a_room_that_only_others_name(self):
        table = TABLE.replace("report = []", 'report = ["tables"]')
        found = self.violations({}, table)
        self.assertEqual(
            found, {"src/rooms.toml:1": "the rooms of cli do not describe tables"}
        )

    def test_a_forbidden_library(self):
        found = self.violations({
            "src/core/numeric/a.cpp": "#include <mpi.h>\n",
            "src/pipeline/a.cpp": "#include <hdf5.h>\n",
            "src/cpu/a.cpp": "#include <cuda_runtime.h>\n",
        })
        self.assertEqual(
            found,
            {
                "src/core/numeric/a.cpp:1": "layer core may not know MPI",
                "src/pipeline/a.cpp:1": "layer pipeline may not know HDF5",
                "src/cpu/a.cpp:1": "layer cpu may not know CUDA",
            },
        )

    def test_an_internal_header_in_a_public_one(self):
        found = self.violations({"include/warpfold/core/a.hpp": '#include "core/b/c.hpp"\n'})
        self.assertIn("not installed", found["include/warpfold/core/a.hpp:1"])

    def test_an_include_that_names_no_layer(self):
        found = self.violations({"src/io/a.cpp": '#include "b.hpp"\n#include "../core/b.hpp"\n'})
        self.assertEqual(set(found), {"src/io/a.cpp:1", "src/io/a.cpp:2"})

    def test_an_unknown_library_and_an_unknown_folder(self):
        found = self.violations({
            "src/io/a.cpp": "#include <boost/any.hpp>\n",
            "src/extra/a.cpp": "",
        })
        self.assertEqual(set(found), {"src/io/a.cpp:1", "src/extra/a.cpp:1"})

    def test_a_folder_of_too_many_files(self):
        names = [f"tests/io/{number}.txt" for number in range(check_layers.MAX_FILES + 1)]
        self.assertEqual(self.violations(dict.fromkeys(names[1:], "")), {})
        self.assertEqual(set(self.violations(dict.fromkeys(names, ""))), {"tests/io:1"})

    def test_a_file_of_too_many_lines(self):
        lines = check_layers.MAX_LINES
        self.assertEqual(self.violations({"src/io/a.cpp": "\n" * lines}), {})
        found = self.violations({"src/io/a.cpp": "\n" * (lines + 1)})
        self.assertEqual(set(found), {f"src/io/a.cpp:{lines}"})


if __name__ == "__main__":
    unittest.main()
