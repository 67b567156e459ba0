#!/usr/bin/env python3
"""Shows that check_comments.py finds what breaks a rule and passes what does not."""

import pathlib
import tempfile
import unittest

import check_comments


class CheckComments(unittest.TestCase):
    def violations(self, files):
        """Returns the violations in a tree of these files, as "path:line" with the rule."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return {f"{path}:{line}": rule for path, line, rule in check_comments.violations(root)}

    def test_comments_with_a_subject(self):
        self.assertEqual(
            self.violations({
                "include/a.hpp": "/// Returns what is left.\nint left();  ///< bytes of a slab\n",
                "src/b.cu": "// Bytes by thread.\n#include <what>\n// Whatever is left.\n",
                "tests/c.py": '"""Sums of which all are exact."""\nfolder = 1  # by hand\n',
                "docs/d.md": "What is not code: Of these, carry_out.\n",
            }),
            {},
        )

    def test_planted_beginnings(self):
        for word in ("Of", "By", "What", "Where", "Those"):
            for path, text in (
                ("include/a.hpp", f"\n  /// {word} all threads.\n"),
                ("src/b.cuh", f"\n// {word} all threads.\n"),
                ("src/b.inl", f"\nint n;  ///< {word.lower()} all threads\n"),
                ("tests/c.py", f"\n# {word} all threads.\n"),
                ("tests/d.py", f'def d():\n    """{word} all threads."""\n'),
            ):
                found = self.violations({path: text})
                self.assertEqual(list(found), [f"{path}:2"])
                self.assertIn("begin with its subject", found[f"{path}:2"])

    def test_planted_names(self):
        for name in check_comments.NAMES:
            found = self.violations({"src/a.cpp": f"int {name};\n"})
            self.assertEqual(list(found), ["src/a.cpp:1"])
        for text in ("bool told;", "first_told(x);", "told_seconds = 0;", "// It is told later."):
            self.assertEqual(list(self.violations({"src/a.cpp": text})), ["src/a.cpp:1"])

    def test_longer_names(self):
        text = "commend(); mend_all(); carry_outs(); untoldly();\n"
        self.assertEqual(self.violations({"src/a.cpp": text}), {})


if __name__ == "__main__":
    unittest.main()
