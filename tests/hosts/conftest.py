"""Shared set-up of the tests on several hosts."""

import contextlib
import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import network  # noqa: E402
import support  # noqa: E402
from skipping import pytest_sessionfinish  # noqa: E402, F401


@dataclasses.dataclass
class Ended:
    """How a run on several hosts ended."""

    code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def errors(self):
        return [line for line in self.stderr.splitlines() if line.startswith("warpfold: error")]


class Hosts(network.Network):
    """Runs warpfold on hosts."""

    def begin(self, *arguments, ranks_per_host=2, hosts=None, settings=(), under=()):
        words = support.backend_words(*arguments, backend="cpu")
        return self.launch(*under, support.program(), *arguments, *words,
                           ranks_per_host=ranks_per_host, hosts=hosts, settings=settings)  # fmt: skip

    def end(self, run, timeout=60):
        began = time.monotonic()
        try:
            stdout, stderr = run.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            left = {host: self.processes(host) for host in self.hosts}
            for host in self.hosts:
                self.kill_all(host)
            stdout, stderr = run.communicate()
            pytest.fail(f"ranks hang, on each host {left}:\n{stdout}\n{stderr}")
        return Ended(run.returncode, stdout, stderr, time.monotonic() - began)

    def left(self, *hosts):
        """The processes that are still there after a while, by host."""
        deadline = time.monotonic() + 10
        while any(map(self.processes, hosts)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return {host: processes for host in hosts if (processes := self.processes(host))}

    def run(self, *arguments, **options):
        return self.end(self.begin(*arguments, **options))


@pytest.fixture(scope="session")
def three_hosts():
    reason = network.missing()
    if reason is not None:
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="warpfold-hosts-") as folder:
        with contextlib.closing(Hosts(folder, 3)) as hosts:
            yield hosts


@pytest.fixture
def hosts(three_hosts):
    """Three hosts on which nothing runs, before and after."""
    yield three_hosts
    three_hosts.see_the_same()
    for host in three_hosts.hosts:
        three_hosts.kill_all(host)
        three_hosts.plug_in(host)
