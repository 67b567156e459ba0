"""Whether a study's results are the same bits at every number of ranks."""

import hashlib
import json

from .problem import Problem

# What tells where a result lies, not what it is.
PLACES = ("output", "output_dataset")


def answer_of(workload, report, output_digest=None):
    """What a run found, as a JSON object: the same for the same data, whoever computed it."""
    if workload.startswith("bench"):
        return None
    results = report["results"]
    if isinstance(results, list):
        return {"sha256 of the labels' results": answer_digest(results)}
    answer = {name: value for name, value in results.items() if name not in PLACES}
    answer |= report.get("not_finite", {})
    if output_digest is not None:
        answer["sha256 of the output"] = output_digest
    return answer


def answer_digest(answer):
    return hashlib.sha256(json.dumps(answer).encode()).hexdigest()


def refuse_wrong_sum(name, answer, known_sum):
    if known_sum is not None and "sum" in answer and answer["sum"] != known_sum:
        raise Problem(f"WRONG: the sum of {name} is {answer['sum']}, not {known_sum}, which is "
                      "known. Do not trust this program on this machine.")


class Answers:
    """What runs found on each dataset; the first answer holds for all others."""

    def __init__(self):
        self.first = {}  # workload and bytes of the dataset to run and answer

    def add(self, run, answer):
        if answer is None:
            return
        name, expected = self.first.setdefault((run.workload, run.bytes), (run.name, answer))
        if answer != expected:
            wrong = [f"{key} {expected.get(key)} and {answer.get(key)}"
                     for key in dict.fromkeys([*expected, *answer])
                     if expected.get(key) != answer.get(key)]
            raise Problem(f"DIFFERENT: runs {name} and {run.name} found different results "
                          f"({', '.join(wrong)}). The study has failed, as results have to be the "
                          "same bits at every number of ranks.")
