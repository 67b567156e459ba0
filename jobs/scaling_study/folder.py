"""A study's folder: study.json says what is measured by which program, runs/ holds what was."""

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import tempfile

from .plan import Plan
from .problem import Problem

SCHEMA = "warpfold.study/1"
RUN_SCHEMA = "warpfold.study-run/1"


def write_whole(path, text):
    """A file appears under its name complete or not at all."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp",
                                             dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read_json(path, schema):
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as failure:
        raise Problem(f"cannot read {path}: {failure}. Make the study again in another folder."
                      ) from failure
    if not isinstance(content, dict) or content.get("schema") != schema:
        raise Problem(f"{path} is not of a scaling study: it has no {schema}. Name a study's "
                      "folder.")
    return content


class Folder:
    """A study that was begun."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.runs = self.path / "runs"
        if not self.study_file.is_file():
            raise Problem(f"there is no study in '{path}'. Begin one with `scaling.py run`.")
        self.content = read_json(self.study_file, SCHEMA)
        self.plan = Plan.from_json(self.content["plan"])

    @property
    def study_file(self):
        return self.path / "study.json"

    @staticmethod
    def is_begun(path):
        return (pathlib.Path(path) / "study.json").exists()

    @staticmethod
    def begin(path, plan, program, facts):
        """Makes the folder, or opens it if it is of the same plan and program."""
        path = pathlib.Path(path)
        if not Folder.is_begun(path):
            (path / "runs").mkdir(parents=True, exist_ok=True)
            content = {"schema": SCHEMA, "plan": plan.as_json(), "program": program.as_json(),
                       **facts}
            write_whole(path / "study.json", json.dumps(content, indent=2) + "\n")
        folder = Folder(path)
        folder.refuse_another(plan, program)
        return folder

    def refuse_another(self, plan, program):
        """One study compares like with like: one plan, one build."""
        differences = [
            f"{name.rstrip('s') if name == 'scalings' else name}: {was!r} there, {now!r} wanted"
            for name, was, now in ((name, self.content["plan"].get(name), value)
                                   for name, value in plan.as_json().items()) if was != now
        ]  # fmt: skip
        known = self.content["program"]
        if known["digest"] != program.digest:
            differences.append(f"program file: sha256 {known['digest'][:12]} there, "
                               f"{program.digest[:12]} wanted")
        elif known["build"] != program.build:
            differences.append("build, as --config tells it")
        if differences:
            raise Problem(f"the study in {self.path} is another one: {'; '.join(differences)}. "
                          "Name a new folder, as a study mixes neither plans nor builds.")

    def file_of(self, run):
        return self.runs / f"{run.name}.json"

    def is_done(self, run):
        return self.file_of(run).exists()

    def keep(self, run, content):
        document = {"schema": RUN_SCHEMA, "run": dataclasses.asdict(run), **content}
        write_whole(self.file_of(run), json.dumps(document, indent=1) + "\n")

    def forget_attempt(self, run):
        """Removes what a killed process left of a run."""
        for left in self.runs.glob(f".{run.name}.*"):
            left.unlink()

    def keep_failure(self, run, text):
        write_whole(self.runs / f"{run.name}.failed", text)

    def forget_failure(self, run):
        (self.runs / f"{run.name}.failed").unlink(missing_ok=True)

    def kept_run(self, run):
        return read_json(self.file_of(run), RUN_SCHEMA)

    @contextlib.contextmanager
    def measuring(self, ranks):
        """Two processes don't measure the same numbers of ranks of a study at the same time."""
        with contextlib.ExitStack() as locks:
            for number in ranks:
                file = locks.enter_context(open(self.path / f".{number}-ranks.lock", "w"))
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError as failure:
                    raise Problem(f"another process measures {number} ranks of {self.path} now. "
                                  "Wait for it, or stop it.") from failure
                except OSError:
                    pass  # a file system without locks
            yield
