"""Commands run by processes that go on to the next one: command_server.cpp."""

import json
import os
import pathlib
import select
import signal
import subprocess
import tempfile

import support


def server_program():
    """WARPFOLD_COMMAND_SERVER names it; it is built beside the program."""
    beside = pathlib.Path(support.program()).with_name("command_server")
    return pathlib.Path(os.environ.get("WARPFOLD_COMMAND_SERVER", beside))


class Server:
    """The ranks of one MPI program; without mpirun where `ranks` is 1."""

    def __init__(self, ranks, settings=None, preexec_fn=None):
        program = server_program()
        if not program.exists():
            raise RuntimeError(f"there is no {program}: build the target command_server")
        self._messages = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            support.launched(str(program), ranks=None if ranks == 1 else ranks),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
            text=True,
            bufsize=1,
            env={**support.ENVIRONMENT, **(settings or {})},
            preexec_fn=preexec_fn,
            start_new_session=True,
        )

    def attempt(self, arguments, timeout, cwd=None):
        """The Outcome of a command line in the folder `cwd`; an AssertionError, after which the
        server is of no more use, where ranks end, get stuck, leave files open or do not agree."""
        with tempfile.TemporaryDirectory(prefix="warpfold-server-") as folder:
            output, errors = (pathlib.Path(folder) / name for name in ("output", "errors"))
            output.touch()
            errors.touch()
            words = list(map(str, arguments))
            command = {
                "arguments": words,
                "folder": str(cwd or os.getcwd()),
                "output": str(output),
                "errors": str(errors),
            }
            ranks = self._ask(json.dumps(command), timeout, errors)
            code = ranks[0]["status"]
            assert ranks == len(ranks) * [{"status": code, "left_open": 0}], f"ranks end as {ranks}"
            return support.Outcome(code, output.read_text(), errors.read_text())

    def _ask(self, line, timeout, errors):
        try:
            self._process.stdin.write(line + "\n")
            answered = select.select([self._process.stdout], [], [], timeout)[0]
            answer = self._process.stdout.readline() if answered else None
        except BrokenPipeError:
            answer = ""
        if answer:
            return json.loads(answer)
        how = f"no end within {timeout} s" if answer is None else "the ranks ended"
        raise AssertionError(f"{how}: {errors.read_text()}{self.kill()}")

    def kill(self):
        """Returns what the launcher, or the ranks between two commands, had to say."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._messages.seek(0)
        return self._messages.read()

    def end(self):
        """Waits until the ranks have left in order; an AssertionError where they don't."""
        self._process.stdin.close()
        try:
            code = self._process.wait(60)
        except subprocess.TimeoutExpired:
            code = None
        messages = self.kill()
        assert code == 0, f"the server's end: exit {code}: {messages}"


class Servers:
    """One for each number of ranks and settings, started when first needed and after a failure."""

    def __init__(self):
        self._servers = {}

    def attempt(
        self, *arguments, ranks=None, backend=support.BACKEND, timeout=120, cwd=None, settings=None
    ):
        """As support.attempt()."""
        ranks = ranks or 1
        words = support.backend_words(*arguments, ranks=ranks, backend=backend)
        key = (ranks, *(settings or {}).items())
        server = self._servers.pop(key, None) or Server(ranks, settings)
        try:
            outcome = server.attempt([*arguments, *words], timeout, cwd)
        except BaseException:
            server.kill()
            raise
        self._servers[key] = server
        return outcome

    def end(self):
        while self._servers:
            self._servers.popitem()[1].end()
