"""jobs/scaling.py model finds the terms that made a study's times, and says how far it is off."""

import csv
import json
import math
import random
import subprocess
import sys

import pytest

import support

SCRIPT = support.ROOT / "jobs" / "scaling.py"
sys.path.insert(0, str(SCRIPT.parent))

from scaling_study import cost_model, prediction  # noqa: E402
from scaling_study.machine import Machine  # noqa: E402
from scaling_study.table import COLUMNS  # noqa: E402

NDR = support.ROOT / "jobs" / "sites" / "ndr.toml"
MESSAGE = 2264
GIBIBYTE = 1 << 30
START, RANK_RATE, HOST_RATE = 0.03, 2e9, 5e9
CALL, STEP, LINK = 1.5e-6, 2.5e-6, 0.8e-6  # a reduction is a tree, an exclusive scan a chain
EXCHANGES = {"reduce": {"step": STEP, "link": 0}, "scan": {"step": 0, "link": LINK}}
SUPERSTEPS = 4


def row(workload, scaling, ranks, quantity, seconds, **others):
    made = {**dict.fromkeys(COLUMNS, ""), "hosts": 1, "gpus": 0, "repeat": 1, "bytes": 0}
    made.update(workload=workload, scaling=scaling, ranks=ranks, quantity=quantity, seconds=seconds,
                commit="c0ffee", **others)
    return {name: str(value) for name, value in made.items()}


def steps(ranks):
    """Doublings until all ranks are reached."""
    return math.ceil(math.log2(ranks))


def exchange_seconds(ranks, workload):
    """Beside the call."""
    return (ranks - 1) * LINK if workload == "scan" else steps(ranks) * STEP


def streaming_seconds(size, ranks, hosts, workload="reduce", supersteps=1):
    slower = max(size / ranks / RANK_RATE, size / hosts / HOST_RATE)
    return START + slower + supersteps * exchange_seconds(ranks, workload)


def study(rank_counts, repeats=3, noise=lambda: 1.0, workloads=("reduce", "scan"), hosts_of=None):
    """Rows of runs that take what streaming_seconds() says, times noise."""
    rows = []
    for repeat in range(1, repeats + 1):
        for ranks in rank_counts:
            common = {"repeat": repeat, "hosts": hosts_of(ranks) if hosts_of else 1}
            for name, workload in (("MPI_Reduce", "reduce"), ("MPI_Exscan", "scan")):
                seconds = (CALL + exchange_seconds(ranks, workload)) * noise()
                rows.append(row("bench combine", "weak", ranks, name, seconds,
                                stage_bytes=MESSAGE, **common))
            for workload in workloads:
                supersteps = SUPERSTEPS if workload == "scan" else 1
                for scaling, size in (("strong", GIBIBYTE), ("weak", GIBIBYTE * ranks)):
                    seconds = noise() * streaming_seconds(size, ranks, common["hosts"], workload,
                                                          supersteps)
                    rows.append(row(workload, scaling, ranks, "whole run", seconds, bytes=size,
                                    **common))
                    rows.append(row(workload, scaling, ranks, "wall", 9, bytes=size, **common))
                    if workload == "scan":
                        seconds = supersteps * noise() * (CALL + exchange_seconds(ranks, "scan"))
                        rows.append(row(workload, scaling, ranks, "exscan", seconds, waiting=0,
                                        bytes=size, stage_bytes=supersteps * MESSAGE, **common))
    return rows


def write_study(folder, rows):
    with open(folder / "study.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return folder


def predict(*arguments, env=support.WITHOUT_PICTURES):
    words = [sys.executable, str(SCRIPT), "model", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, env=env)


def terms(document, workload, quantity):
    found, = (each for each in document["terms"]
              if (each["workload"], each["quantity"]) == (workload, quantity))
    return found


def test_finds_the_terms_that_made_the_times(folder):
    study_folder = write_study(folder, study([1, 2, 4, 8]))
    outcome = predict(study_folder, "--predict", "8")
    assert outcome.returncode == 0, outcome.stderr
    document = json.loads((folder / "model.json").read_text())
    for workload in ("reduce", "scan"):
        found = terms(document, workload, "whole run")
        expected = {"start": START, "rank_rate": RANK_RATE, "host_rate": HOST_RATE,
                    **EXCHANGES[workload]}  # fmt: skip
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-6)
    for name, workload in (("MPI_Reduce", "reduce"), ("MPI_Exscan", "scan")):
        found = terms(document, "bench combine", name)
        expected = {"call": CALL, **EXCHANGES[workload]}
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    assert document["commit"] == "c0ffee"


def test_predicts_what_larger_runs_would_take():
    hosts_of = {2: 1, 4: 1, 8: 2, 16: 4, 1024: 256}.get
    rows = study([2, 4, 8, 16], hosts_of=hosts_of)
    _, checks, predicted = prediction.model_of(rows, [1024])
    whole_runs = {(each.workload, each.scaling): each for each in predicted
                  if each.quantity == "whole run"}
    assert len(whole_runs) == 4
    for (workload, scaling), found in whole_runs.items():
        supersteps = SUPERSTEPS if (workload, scaling) == ("scan", "weak") else 1
        size = GIBIBYTE * (1024 if scaling == "weak" else 1)
        expected = streaming_seconds(size, 1024, 256, workload, supersteps)
        assert found.hosts == 256
        assert found.seconds.median == pytest.approx(expected, rel=1e-6)
        assert found.seconds.most - found.seconds.least < 1e-6 * expected
    for check in checks:
        assert check.ranks == 16
        assert abs(check.off_percent) < 1e-4


def test_a_point_that_breaks_the_law_shows_in_the_check():
    """The largest number of ranks takes a quarter longer than the others say."""
    rows = study([1, 2, 4])
    for each in rows:
        if each["ranks"] == "4":
            each["seconds"] = str(1.25 * float(each["seconds"]))
    _, checks, _ = prediction.model_of(
        [each for each in rows if each["workload"] == "bench combine"], [8], 8)
    assert [check.off_percent for check in checks] == pytest.approx([-20, -20])


def test_most_runs_lie_in_their_interval():
    """With 5 % noise, runs that a fit has not seen lie in about 90 % of the intervals."""
    inside = []
    for seed in range(60):
        source = random.Random(seed)
        rows = study([1, 2, 4, 8], 5, lambda: source.lognormvariate(0, 0.05), ["reduce"],
                     {1: 1, 2: 1, 4: 1, 8: 2}.get)
        rows = [each for each in rows if each["quantity"] == "whole run"]
        for check in prediction.held_out(rows):
            inside += [check.seconds.least <= float(each["seconds"]) <= check.seconds.most
                       for each in rows
                       if (each["scaling"], each["ranks"]) == (check.scaling, "8")]
    assert 0.85 <= sum(inside) / len(inside) <= 0.95


def test_intervals_are_the_same_every_time():
    source = random.Random(1)
    rows = study([1, 2, 4], noise=lambda: source.lognormvariate(0, 0.1))
    first, second = (prediction.model_of(rows, [8, 64], 64)[2] for _ in range(2))
    assert first == second
    assert all(each.seconds.least < each.seconds.median < each.seconds.most for each in first)


def test_single_runs_have_no_interval():
    rows = [each for each in study([1, 2, 4], 1) if each["workload"] == "bench combine"]
    checks = prediction.model_of(rows, [8], 8)[1]
    assert [check.seconds.least for check in checks] == [None, None]


def test_no_term_is_negative():
    """Times that fall faster than 1/p would need a negative start."""
    rows = [row("reduce", "strong", ranks, "whole run", 1 / ranks**1.3, bytes=GIBIBYTE)
            for ranks in (1, 2, 4, 8)]
    model, _, predicted = prediction.model_of(rows, [16, 1024], 1024)
    fit = model.fits["reduce", "whole run"]
    assert fit.coefficient("start") == 0
    assert all(coefficient >= 0 for coefficient in fit.coefficients)
    assert all(each.seconds.median > 0 for each in predicted)


def test_knows_no_limit_that_was_not_measured():
    rows = [row("reduce", "strong", ranks, "whole run", 8 / ranks, bytes=GIBIBYTE)
            for ranks in (1, 2, 4)]
    fit = prediction.model_of(rows, [8], 8)[0].fits["reduce", "whole run"]
    assert fit.coefficient("host") == 0
    assert fit.seconds(cost_model.Situation(8, 1, GIBIBYTE / 8)) == pytest.approx(1)


def test_reports(folder):
    write_study(folder, study([1, 2, 4]))
    outcome = predict(folder, "--predict", "8,16", "--ranks-per-node", "4", "--machine", NDR)
    assert outcome.returncode == 0, outcome.stderr
    with open(folder / "model.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    document = json.loads((folder / "model.json").read_text())
    said = [each for each in rows if each["workload"] == "reduce" and not each["measured"]]
    assert [(each["scaling"], each["ranks"], each["hosts"]) for each in said] == [
        ("strong", "8", "2"), ("strong", "16", "4"), ("weak", "8", "2"), ("weak", "16", "4"),
    ]  # fmt: skip
    assert [float(each["seconds"]) for each in rows] == [
        each["seconds"] for each in [*document["held_out"], *document["predictions"]]
    ]
    measured = {(each["workload"], each["scaling"], each["quantity"]): each["measured"]
                for each in rows if each["measured"]}
    assert float(measured["reduce", "weak", "whole run"]) == streaming_seconds(4 * GIBIBYTE, 4, 1)
    for each in document["predictions"]:
        assert each["limit"] in each["parts"]


def test_picture(folder):
    image = pytest.importorskip("matplotlib.image")
    source = random.Random(2)
    write_study(folder, study([1, 2, 4], noise=lambda: source.lognormvariate(0, 0.1)))
    assert predict(folder, "--predict", "4", env=support.ENVIRONMENT).returncode == 0
    height, width = image.imread(folder / "model.png").shape[:2]
    assert height > 500 and width > 1000


@pytest.mark.parametrize(
    "rank_counts, arguments, mentions",
    [
        ([4], [], ["too few numbers of ranks", "has 4"]),
        ([1, 2, 4], ["--predict", "0,8"], ["1 or more"]),
        ([1, 2, 4], ["--ranks-per-node", "0"], ["1 or more"]),
        ([1, 2, 4], ["--predict", "1024"], ["1024 ranks are on 256 hosts", "--machine"]),
        ([1, 2, 4], ["--machine", "nowhere.toml"], ["nowhere.toml", "jobs/sites/ndr.toml"]),
    ],
)
def test_refusals(folder, rank_counts, arguments, mentions):
    write_study(folder, study(rank_counts))
    outcome = predict(folder, "--predict", "4", *arguments)
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("scaling.py: error: ")
    assert len(outcome.stderr.splitlines()) == 1
    for word in mentions:
        assert word in outcome.stderr
    assert not (folder / "model.json").exists()


def test_a_study_that_was_not_collected(folder):
    outcome = predict(folder, "--predict", "4")
    assert outcome.returncode == 1
    assert "study.csv" in outcome.stderr


def test_two_numbers_of_ranks_are_not_checked(folder):
    write_study(folder, study([1, 4]))
    outcome = predict(folder, "--predict", "4")
    assert outcome.returncode == 0, outcome.stderr
    document = json.loads((folder / "model.json").read_text())
    assert document["held_out"] == []
    assert "reduce was measured at 1 and 4 ranks alone" in outcome.stdout


def test_messages_that_share_memory():
    """Steps of a tree, and messages one after the other: p - 1 of a reduction, p L - (p - 1) of a
    scan by doubling."""
    message = 0.2e-6
    rows = []
    for ranks in (1, 2, 4, 8):
        doubled = ranks * steps(ranks) - (ranks - 1)
        for name, messages in (("MPI_Reduce", ranks - 1), ("exclusive scan by doubling", doubled)):
            seconds = CALL + steps(ranks) * STEP + messages * message
            rows.append(row("bench combine", "weak", ranks, name, seconds, stage_bytes=MESSAGE))
    model, _, predicted = prediction.model_of(rows, [1024], 8, Machine(NDR))
    for fit in model.fits.values():
        assert (fit.hop, fit.message) == pytest.approx((STEP, message), rel=1e-9)
    within = {each.quantity: each.parts["within"] for each in predicted}
    assert within["MPI_Reduce"] == pytest.approx(3 * STEP + 7 * message)
    assert within["exclusive scan by doubling"] == pytest.approx(3 * STEP + 17 * message)


def described(folder, **changes):
    """A description of a cluster with round figures, some of them changed; None leaves one out."""
    figures = {"network.latency_us": 2, "network.gbit_s_a_host": 8, "file_system.read_gb_s": 8,
               "file_system.write_gb_s": 4, "file_system.read_gb_s_a_host": 2,
               "file_system.write_gb_s_a_host": 1, **changes}  # fmt: skip
    path = folder / "machine.toml"
    path.write_text("".join(f"{name} = {value}\n" for name, value in figures.items()
                            if value is not None))
    return path


def test_predicts_several_hosts_by_their_description(folder):
    """64 ranks on 16 hosts after a study of one: terms and limits by hand."""
    write_study(folder, study([1, 2, 4, 8]))
    outcome = predict(folder, "--predict", "4,64", "--ranks-per-node", "4", "--machine",
                      described(folder))
    assert outcome.returncode == 0, outcome.stderr
    document = json.loads((folder / "model.json").read_text())
    found = {(each["workload"], each["scaling"], each["ranks"]): each
             for each in document["predictions"] if each["quantity"] == "whole run"}
    hop = 2e-6 + 2272 / 1e9
    data = {
        "start": START,
        "rank": 0,  # four ranks take what they share more of
        "host": 4 * GIBIBYTE / HOST_RATE,
    }
    reduced = {**data, "host_files": 4 * GIBIBYTE / 2e9, "files": 64 * GIBIBYTE / 8e9,
               "within": 2 * STEP, "between": 4 * hop}  # fmt: skip
    scanned = {**data, "host_files": 4 * GIBIBYTE / 2e9 + 4 * GIBIBYTE / 1e9,
               "files": 64 * GIBIBYTE / 8e9 + 64 * GIBIBYTE / 4e9,
               "within": SUPERSTEPS * 48 * LINK, "between": SUPERSTEPS * 15 * hop}  # fmt: skip
    for workload, parts in (("reduce", reduced), ("scan", scanned)):
        each = found[workload, "weak", 64]
        assert each["hosts"] == 16
        assert each["parts"] == pytest.approx(parts, rel=1e-6)
        assert each["limit"] == "files"
        seconds = START + parts["files"] + parts["within"] + parts["between"]
        one = START + parts["host_files"] + (2 * STEP if workload == "reduce"
                                             else SUPERSTEPS * 3 * LINK)
        assert each["seconds"] == pytest.approx(seconds, rel=1e-6)
        assert each["efficiency"] == pytest.approx(one / seconds, rel=1e-6)
        assert found[workload, "weak", 4]["limit"] == "host_files"
        assert f"{workload}, weak, whole run: 64 ranks on 16 hosts are limited by the file system" \
            in outcome.stdout
    strong = found["reduce", "strong", 64]
    seconds = START + GIBIBYTE / 8e9 + 2 * STEP + 4 * hop
    assert strong["seconds"] == pytest.approx(seconds, rel=1e-6)
    one = START + GIBIBYTE / 2e9 + 2 * STEP
    assert strong["efficiency"] == pytest.approx(one / seconds / 16, rel=1e-6)


@pytest.mark.parametrize("way, links_within, links_between",
                         [("chain", 48, 15), ("doubling", 2, 4)])
def test_scans_along_a_chain_and_by_doubling(folder, way, links_within, links_between):
    write_study(folder, study([1, 2, 4, 8]))
    outcome = predict(folder, "--predict", "64", "--ranks-per-node", "4", "--machine",
                      described(folder), "--exscan", way)
    assert outcome.returncode == 0, outcome.stderr
    document = json.loads((folder / "model.json").read_text())
    scan, = (each for each in document["predictions"]
             if (each["workload"], each["scaling"], each["quantity"])
             == ("scan", "weak", "whole run"))
    assert scan["parts"]["within"] == pytest.approx(SUPERSTEPS * links_within * LINK, rel=1e-6)
    hop = 2e-6 + 2272 / 1e9
    assert scan["parts"]["between"] == pytest.approx(SUPERSTEPS * links_between * hop)


def test_what_hops_between_hosts_take_is_no_term_of_the_fit():
    """A study of several hosts and what is known of their network tell what steps within take."""
    hop = 2e-6 + 2272 / 4e11
    rows = [row("bench combine", "weak", ranks, "MPI_Reduce",
                CALL + steps(min(ranks, 4)) * STEP + steps(max(ranks // 4, 1)) * hop,
                stage_bytes=MESSAGE, hosts=max(ranks // 4, 1)) for ranks in (1, 2, 4, 8, 16)]
    model, _, predicted = prediction.model_of(rows, [256], 4, Machine(NDR))
    fit = model.fits["bench combine", "MPI_Reduce"]
    assert fit.coefficient("step") == pytest.approx(STEP, rel=1e-9)
    assert predicted[0].parts["between"] == pytest.approx(6 * hop, rel=1e-9)


@pytest.mark.parametrize(
    "changes, mentions",
    [
        ({"file_system.write_gb_s": None}, ["has no file_system.write_gb_s", "ior -w"]),
        ({"network.latency_us": None}, ["has no network.latency_us", "osu_latency"]),
        ({"network.latency_us": 0}, ["network.latency_us", "not a number above 0"]),
        ({"network.latency_us": "true"}, ["network.latency_us", "not a number above 0"]),
        ({"network.hops": 3}, ["unknown figure network.hops"]),
        ({"latency": 3}, ["unknown figure latency"]),
        ({"network.latency_us": ""}, ["is not TOML"]),
    ],
)
def test_refuses_descriptions(folder, changes, mentions):
    write_study(folder, study([1, 2, 4]))
    outcome = predict(folder, "--predict", "64", "--machine", described(folder, **changes))
    assert outcome.returncode == 1
    assert len(outcome.stderr.splitlines()) == 1
    for word in mentions:
        assert word in outcome.stderr
    assert not (folder / "model.json").exists()
