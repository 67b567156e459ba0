"""A cluster's figures that no single host can measure, from a file like jobs/sites/ndr.toml."""

import math
import tomllib

from .problem import Problem

GIGABIT = 1e9 / 8
# By section: what a figure is multiplied by for seconds, or bytes a second, and what measures it.
FIGURES = {
    "network": {
        "latency_us": (1e-6, "osu_latency between two hosts, at 2 KiB"),
        "gbit_s_a_host": (GIGABIT, "osu_mbw_mr between two hosts, as many ranks as GPUs"),
    },
    "file_system": {
        "read_gb_s_a_host": (1e9, "ior -r on one host"),
        "write_gb_s_a_host": (1e9, "ior -w on one host"),
        "read_gb_s": (1e9, "ior -r on all hosts"),
        "write_gb_s": (1e9, "ior -w on all hosts"),
    },
}  # fmt: skip


class Machine:
    """Figures in seconds and bytes a second; asking for one that the file lacks is an error."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as file:
                self.content = tomllib.load(file)
        except OSError as failure:
            raise Problem(f"cannot read {path}: {failure.strerror}. Copy jobs/sites/ndr.toml and "
                          "edit it."
                          ) from failure
        except tomllib.TOMLDecodeError as failure:
            raise Problem(f"{path} is not TOML: {failure}. Write it like jobs/sites/ndr.toml."
                          ) from failure
        for section, figures in self.content.items():
            known = FIGURES.get(section, {})
            for name, value in figures.items() if isinstance(figures, dict) else [("", None)]:
                if name not in known:
                    raise Problem(f"{path} has an unknown figure {section}.{name}. Omit it; "
                                  "jobs/sites/ndr.toml has all there are.")
                if type(value) not in (int, float) or not 0 < value < math.inf:
                    raise Problem(f"{path} has a {section}.{name} that is not a number above 0: it "
                                  f"is {value!r}. Correct it.")

    def figure(self, section, name):
        scale, measured_by = FIGURES[section][name]
        try:
            return self.content[section][name] * scale
        except KeyError:
            raise Problem(f"{self.path} has no {section}.{name}, which the prediction needs (by "
                          f"{measured_by}, or as the vendor states it). Add it.") from None

    def hop(self, size):
        """Seconds of a message of so many bytes between hosts."""
        return self.figure("network", "latency_us") + size / self.figure("network", "gbit_s_a_host")
