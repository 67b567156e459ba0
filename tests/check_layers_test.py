#!/usr/bin/env python3
"""Shows that check_layers.py finds what breaks a rule and passes what does not."""

import pathlib
import tempfile
import unittest

import check_layers


class CheckLayers(unittest.TestCase):
    def violations(self, files):
        """What is found in a tree of these files, as "path:line" with the rule."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return {f"{path}:{line}": rule for path, line, rule in check_layers.violations(root)}

    def test_allowed_includes(self):
        self.assertEqual(
            self.violations({
                "include/warpfold/core/a.hpp": "#include <cstdint>\n",
                "include/warpfold/reduce.hpp": '#include <mpi.h>\n#include "warpfold/core/a.hpp"\n',
                "src/core/a.cpp": '#include "warpfold/core/a.hpp"\n#include "core/b.hpp"\n',
                "src/io/a.cpp": '#include <hdf5.h>\n#include <sys/stat.h>\n#include "io/b.hpp"\n',
                "src/cpu/a.cpp": "#include <immintrin.h>\n#include <hwloc.h>\n",
                "src/cuda/kernels/a.cu": '#include <cuda_runtime.h>\n#include "cuda/b.hpp"\n',
                "src/mpi/a.cpp": '#  include <mpi.h>\n#include "core/b.hpp"\n',
                "src/pipeline/a.cpp": '#include "io/b.hpp"\n#include "warpfold/reduce.hpp"\n',
                "src/cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "pipeline/b.hpp"\n',
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
        found = self.violations({"src/core/a.cpp": '#include "warpfold/reduce.hpp"\n'})
        self.assertEqual(found, {"src/core/a.cpp:1": "layer core may not know layer pipeline"})

    def test_a_forbidden_library(self):
        found = self.violations({
            "src/core/a.cpp": "#include <mpi.h>\n",
            "src/pipeline/a.cpp": "#include <hdf5.h>\n",
            "src/cpu/a.cpp": "#include <cuda_runtime.h>\n",
        })
        self.assertEqual(
            found,
            {
                "src/core/a.cpp:1": "layer core may not know MPI",
                "src/pipeline/a.cpp:1": "layer pipeline may not know HDF5",
                "src/cpu/a.cpp:1": "layer cpu may not know CUDA",
            },
        )

    def test_an_internal_header_in_a_public_one(self):
        found = self.violations({"include/warpfold/core/a.hpp": '#include "core/b.hpp"\n'})
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


if __name__ == "__main__":
    unittest.main()
