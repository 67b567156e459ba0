"""The samples of real data in inputs/ give the answers that other tools computed."""

import json

import pytest

import support
from reference import assert_results

INPUTS = support.ROOT / "inputs"
ANSWERS = json.loads((INPUTS / "answers.json").read_text())
DATASETS = [(name, dataset) for name, of_file in ANSWERS.items() for dataset in of_file]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(("name", "dataset"), DATASETS)
def test_all_statistics(name, dataset, ranks):
    found = support.reduce(INPUTS / name, dataset, ranks=ranks).results
    assert_results(found, ANSWERS[name][dataset])
    assert found.keys() == ANSWERS[name][dataset].keys()


def test_every_sample_is_small_and_has_answers():
    samples = {path.name: path for suffix in ("nc", "h5") for path in INPUTS.glob(f"*.{suffix}")}
    assert samples.keys() == ANSWERS.keys()
    assert max(path.stat().st_size for path in samples.values()) < 300 * 1024
