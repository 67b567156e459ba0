"""The runs of structured.py notice what goes wrong with processes that go on."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))

import command_servers  # noqa: E402
import support  # noqa: E402

STAND_IN = """#!{python}
import json, os, sys, time

def answer(status, left_open=0):
    print(json.dumps([{{"status": status, "left_open": left_open}}]), flush=True)

for line in sys.stdin:
    command = json.loads(line)
    open(command["output"], "w").write("done")
    eval({behaviour!r} if command["arguments"] == ["first"] else "answer(0)")
"""


@pytest.fixture
def servers(tmp_path, monkeypatch):
    """Makes Servers whose programs do something on the command `first`, and answer others."""

    def make(behaviour):
        program = tmp_path / "stand_in"
        program.write_text(STAND_IN.format(python=sys.executable, behaviour=behaviour))
        program.chmod(0o755)
        monkeypatch.setenv("WARPFOLD_COMMAND_SERVER", str(program))
        return command_servers.Servers()

    return make


def test_an_outcome_is_what_the_command_wrote_and_returned(servers):
    outcome = servers("answer(3)").attempt("first")
    assert (outcome.code, outcome.stdout, outcome.stderr) == (3, "done", "")


@pytest.mark.parametrize(
    "behaviour, mention",
    [
        ("os._exit(0)", "the ranks ended"),
        ("os.kill(os.getpid(), 11)", "the ranks ended"),
        ("time.sleep(600)", "no end within"),
        ("answer(0, left_open=2)", "'left_open': 2"),
    ],
)
def test_a_failing_server_is_reported_and_replaced(servers, behaviour, mention):
    some = servers(behaviour)
    with pytest.raises(AssertionError, match=mention):
        some.attempt("first", timeout=1)
    assert some.attempt("second").code == 0
    some.end()


def test_ranks_that_do_not_agree_are_reported(servers):
    some = servers(
        'print(json.dumps([{"status": code, "left_open": 0} for code in (0, 1)]), flush=True)'
    )
    with pytest.raises(AssertionError, match="ranks end as"):
        some.attempt("first")


def test_an_end_out_of_order_is_reported(servers):
    some = servers("answer(0) or __import__('atexit').register(os._exit, 9)")
    some.attempt("first")
    with pytest.raises(AssertionError, match="exit 9"):
        some.end()


def test_the_program_runs_commands_one_after_another(tmp_path):
    """Also behind one that fails."""
    path = support.write(tmp_path / "in.h5", [1, 2, 3], "i32")
    some = command_servers.Servers()
    for ranks in (None, 2):
        for dataset, code in (("values", 0), ("gone", 1), ("values", 0)):
            outcome = some.attempt(
                "reduce", path, dataset, "--ops", "sum", "--json", "-", ranks=ranks
            )
            assert outcome.code == code
            assert len(outcome.errors) == (1 if code else 0)
            assert code or outcome.results == {"sum": 6}
    some.end()
