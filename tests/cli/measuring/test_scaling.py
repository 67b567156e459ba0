"""jobs/scaling.py: scaling studies of small datasets, on the cpu backend."""

import csv
import json
import math
import os
import signal
import struct
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

import support

SCRIPT = support.ROOT / "jobs" / "scaling.py"
sys.path.insert(0, str(SCRIPT.parent))

from scaling_study import figures, plan, table  # noqa: E402

SIZE = 1 << 20
COLUMNS = ("workload,scaling,ranks,hosts,gpus,repeat,bytes,quantity,threads,seconds,waiting,"
           "stage_bytes,result,commit,version,build,mpi,devices,host_names,started,command,processor,"
           "processor_clocks,cores,memory_bytes,file_system,gpu_facts,binding,bottleneck")
# One rank needs no mpirun, which takes most of the time.
LAUNCHER = """#!/bin/sh
ranks=$1
shift
[ "$ranks" = 1 ] && exec "$@"
# Ranks that wait let others run: cores are few here.
export OMPI_MCA_mpi_yield_when_idle=1
exec mpirun -np "$ranks" "$@"
"""


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def command(*words):
    return [sys.executable, str(SCRIPT), *map(str, words)]


def scaling(*words, **options):
    options.setdefault("env", support.ENVIRONMENT)
    return subprocess.run(command(*words), capture_output=True, text=True, timeout=280, **options)


def study_words(folder, *more, program=None):
    """`run` of a study in `folder`, whose datasets are made in a folder beside it."""
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    launcher = script(folder / "launch", LAUNCHER)
    return ("run", folder / "study", "--program", program or support.program(), "--scratch",
            scratch, "--launcher", f"{launcher} {{ranks}}", "--backend", "cpu", "--bytes", SIZE,
            "--ranks", "1,2", "--repeats", 1, *more)


def refused(outcome, *mentions, code=1):
    """One line that says what is wrong."""
    assert outcome.returncode == code, outcome.stderr
    lines = [line for line in outcome.stderr.splitlines() if "error: " in line]
    assert len(lines) == 1, outcome.stderr
    assert lines[0].startswith("scaling.py: error: ")
    for mention in mentions:
        assert str(mention) in lines[0]
    return lines[0]


def raw_runs(study):
    return {path.name: json.loads(path.read_text()) for path in (study / "runs").glob("*.json")}


def rows_of(study):
    with open(study / "study.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A whole study."""
    folder = tmp_path_factory.mktemp("finished")
    outcome = scaling(*study_words(folder, "--workloads", "reduce,scan,bench combine"))
    assert outcome.returncode == 0, outcome.stderr
    assert list((folder / "scratch").iterdir()) == []
    return folder, outcome.stdout


def test_every_run_is_kept_with_where_it_comes_from(finished):
    folder, _ = finished
    runs = raw_runs(folder / "study")
    assert len(runs) == (2 + 2 + 1) * 2 * 2 + 2
    content = json.loads((folder / "study" / "study.json").read_text())
    assert content["program"]["version"] in support.run("--version").stdout
    assert content["machine"]["host"] == os.uname().nodename
    for run in runs.values():
        assert run["exit_status"] == 0
        assert run["wall_seconds"] > 0
        assert run["host_names"] == [os.uname().nodename]
        assert run["program"] == content["program"]
        assert run["report"]["ranks"] == run["run"]["launched_ranks"]


def test_table_holds_what_was_reported(finished):
    """Every digit of every time of the runs that count."""
    folder, _ = finished
    study = folder / "study"
    assert (study / "study.csv").read_text().splitlines()[0] == COLUMNS
    rows = rows_of(study)
    expected = {}
    for run in raw_runs(study).values():
        about, report = run["run"], run["report"]
        if about["repeat"] == 0:
            continue
        key = (about["workload"], about["scaling"], about["ranks"], about["bytes"], run["result"])
        expected[(*key, "wall")] = run["wall_seconds"]
        if about["workload"] == "bench combine":
            for row in report["results"]:
                expected[(*key, row["operation"])] = row["seconds"]["median"]
        else:
            expected[(*key, "whole run")] = report["timings"]["seconds"]
            for name, stage in report["timings"]["stages"].items():
                expected[(*key, name)] = stage["seconds"]
    found = {(row["workload"], row["scaling"], int(row["ranks"]), int(row["bytes"]), row["result"],
              row["quantity"]): float(row["seconds"]) for row in rows}  # fmt: skip
    assert found == expected
    assert len(rows) == len(expected)
    assert {row["hosts"] for row in rows} == {"1"}
    assert {row["gpus"] for row in rows} == {"0"}


def test_weak_datasets_grow_with_ranks_and_strong_ones_do_not(finished):
    rows = rows_of(finished[0] / "study")
    for row in rows:
        if row["workload"] != "bench combine":
            growth = int(row["ranks"]) if row["scaling"] == "weak" else 1
            assert int(row["bytes"]) == SIZE * growth


def test_answers_are_those_of_the_data(finished, folder):
    study = finished[0] / "study"
    path = folder / "made.h5"
    for growth in (1, 2):
        elements = growth * SIZE // 4
        support.run("generate", "uniform", path, "values", "--type", "f32", "--shape", elements,
                    "--force")
        with h5py.File(path) as file:
            values = file["values"][:]
        answers = [run["answer"] for run in raw_runs(study).values()
                   if run["run"]["workload"] == "reduce" and run["run"]["bytes"] == growth * SIZE]
        assert len(answers) == (6 if growth == 1 else 3)
        for answer in answers:
            assert answer["count"] == elements
            assert answer["sum"] == math.fsum(values.tolist())
            assert np.float32(answer["max"]) == values.max()


def test_pictures(finished):
    pytest.importorskip("matplotlib")
    folder, stdout = finished
    for name, size in (("reduce-strong", (1680, 1410)), ("scan-weak", (1680, 1410)),
                       ("bench-combine-weak", (1092, 750))):  # fmt: skip
        content = (folder / "study" / f"{name}.png").read_bytes()
        assert content[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", content[16:24]) == size
        assert f"{name}.png" in stdout


def test_a_finished_study_is_not_run_again(finished):
    folder, _ = finished
    before = {path: path.stat().st_mtime_ns for path in (folder / "study" / "runs").iterdir()}
    outcome = scaling("run", folder / "study", "--no-plot")
    assert outcome.returncode == 0, outcome.stderr
    after = {path: path.stat().st_mtime_ns for path in (folder / "study" / "runs").iterdir()}
    assert after == before


def test_another_plan_or_build_is_refused(finished):
    folder, _ = finished
    before = raw_runs(folder / "study")
    refused(scaling("run", folder / "study", "--repeats", 3), "repeats: 1 there, 3 wanted",
            "new folder")
    other = script(folder / "other", f'#!/bin/sh\nexec "{support.program()}" "$@"\n')
    refused(scaling("run", folder / "study", "--program", other), "program file: sha256",
            "new folder")
    assert raw_runs(folder / "study") == before


@pytest.fixture
def small(finished, folder):
    """A copy of a study whose files may be changed."""
    subprocess.run(["cp", "-r", finished[0] / "study", folder / "study"], check=True)
    return folder / "study"


def changed(study, name, change):
    path = study / "runs" / name
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_collect_refuses_runs_of_several_builds(small):
    name = "reduce.strong.00002-ranks.001.json"
    changed(small, name, lambda run: run["program"].update(digest="another"))
    refused(scaling("collect", small), "mixes builds", "another with 2 ranks")


def test_collect_refuses_runs_on_several_machines(small):
    name = "scan.weak.00002-ranks.001.json"
    changed(small, name, lambda run: run["report"].update(backend="cuda", devices=["H", "A", "H"]))
    refused(scaling("collect", small), "mixes devices", "cores with 2 ranks", "A and H with 2")


def test_runs_may_choose_devices_of_a_machine(small):
    study = json.loads((small / "study.json").read_text())
    study["plan"]["backend"] = "auto"
    (small / "study.json").write_text(json.dumps(study))
    name = "scan.weak.00002-ranks.001.json"
    changed(small, name, lambda run: run["report"].update(backend="cpu+cuda", devices=["H", "2 threads"]))
    assert scaling("collect", small).returncode == 0
    rows = list(csv.DictReader((small / "study.csv").open()))
    assert {row["gpus"] for row in rows if row["devices"] == "1 x H; 1 x 2 threads"} == {"2"}
    changed(small, name, lambda run: run["machine"].update(gpus=["A, 580"]))
    refused(scaling("collect", small), "mixes devices", "cores with", "A with 2")


def test_collect_refuses_answers_that_differ(small):
    name = "reduce.weak.00002-ranks.001.json"
    changed(small, name, lambda run: run["answer"].update(max=2))
    refused(scaling("collect", small), "DIFFERENT", "reduce.weak.00002-ranks.control",
            "reduce.weak.00002-ranks.001", "max")


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_a_study_that_was_ended_goes_on_where_it_was(folder, ending):
    words = study_words(folder, "--workloads", "reduce", "--scaling", "strong", "--ranks", 1,
                        "--repeats", 5, "--no-plot")
    runs = folder / "study" / "runs"
    process = subprocess.Popen(command(*words), env=support.ENVIRONMENT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(runs.glob("[!.]*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(ending)
    assert process.wait(60) == {signal.SIGKILL: -9, signal.SIGTERM: 143}[ending]
    if ending == signal.SIGTERM:
        assert list((folder / "scratch").iterdir()) == []
    kept = {path: path.read_bytes() for path in runs.glob("[!.]*[!0].json")}
    assert kept
    outcome = scaling(*words)
    assert outcome.returncode == 0, outcome.stderr
    names = [path.name for path in runs.iterdir()]
    assert len(names) == 6 and all(name.endswith(".json") for name in names)
    assert {path: path.read_bytes() for path in kept} == kept
    assert list((folder / "scratch").iterdir()) == []


def meddling_program(folder, meddling):
    """The program, after which a shell does something where it ran in two ranks; $report is the
    report's path, $output that of a scan's output."""
    return script(folder / "meddler", f"""#!/bin/sh
"{support.program()}" "$@" || exit
[ "$OMPI_COMM_WORLD_SIZE" = 2 ] && [ "$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
while [ $# -gt 0 ]; do
  case $1 in --json) report=$2 ;; -o) output=$2 ;; esac
  shift
done
{meddling}
""")


@pytest.mark.parametrize(
    "workload, meddling, mention",
    [
        ("reduce", """sed -i 's/"argmax": [0-9]*/"argmax": 7/' "$report" """, "argmax"),
        ("scan", """printf 'x' | dd of="$output" bs=1 conv=notrunc status=none """
         """seek=$(($(stat -c %s "$output") - 1))""", "sha256 of the output"),
    ],
    ids=["digit", "byte"],
)  # fmt: skip
def test_different_bits_fail_the_study(folder, workload, meddling, mention):
    program = meddling_program(folder, meddling)
    words = study_words(folder, "--workloads", workload, "--scaling", "strong", program=program)
    found = refused(scaling(*words), "DIFFERENT", mention)
    for ranks in (1, 2):
        assert f"{workload}.strong.{ranks:05}-ranks.000" in found
    assert not (folder / "study" / "study.csv").exists()
    refused(scaling(*words), "DIFFERENT")


def test_a_wrong_sum_fails_the_study(folder):
    """Also where all ranks agree on it."""
    program = meddling_program(folder, """sed -i 's/"sum": [0-9]*/"sum": 7/' "$report" """)
    words = study_words(folder, "--workloads", "reduce", "--scaling", "strong", "--ranks", 2,
                        "--kind", "iota", "--type", "i64", program=program)
    refused(scaling(*words), "WRONG", "reduce.strong.00002-ranks.000", "is 7")


def test_a_failed_run_tells_why_and_is_made_again(folder):
    words = study_words(folder, "--workloads", "reduce", "--scaling", "weak", "--ranks", 1,
                        "--no-plot")
    flag = folder / "broken"
    flag.touch()
    program = script(folder / "program", f"""#!/bin/sh
[ "$1" = reduce ] && [ -e "{flag}" ] && {{ echo 'warpfold: error: no: so. Go away.' >&2; exit 1; }}
exec "{support.program()}" "$@"
""")
    words += ("--program", program)
    refused(scaling(*words), "reduce.weak.00001-ranks.000 failed: no: so. Go away.")
    failed = folder / "study" / "runs" / "reduce.weak.00001-ranks.000.failed"
    assert "exit 1" in failed.read_text()
    flag.unlink()
    assert scaling(*words).returncode == 0
    assert not failed.exists()


@pytest.mark.parametrize(
    "words, mention",
    [
        (("--workloads", "redduce"), "'redduce' is not a workload. Choose from reduce, scan, "),
        (("--scaling", "strong,week"), "'week' is not a scaling. Choose from strong, weak."),
        (("--type", "f128"), "'f128' is not a type. Choose from i8, "),
        (("--ranks", "2,1"), "--ranks is not an ascending list"),
        (("--ranks", "0,1"), "--ranks is not an ascending list"),
        (("--repeats", "0"), "--repeats"),
        (("--bytes", "4K"), "--bytes 4096 is not a multiple of 16384"),
        (("--launcher", "mpirun"), "{ranks}"),
        (("--program", "/nowhere/warpfold"), "no program '/nowhere/warpfold'"),
        (("--program", "/bin/false"), "'/bin/false --config' fails"),
        (("--scratch", "/nowhere"), "'/nowhere'"),
        (("--bytes", "1024T"), "GB free"),
        (("--only-ranks", "3"), "--only-ranks"),
    ],
)
def test_wrong_usage_is_one_line(folder, words, mention):
    refused(scaling(*study_words(folder, "--workloads", "reduce", "--ranks", 1, *words)), mention)
    assert list((folder / "scratch").iterdir()) == []


def test_no_study_no_table(folder):
    refused(scaling("collect", folder), "there is no study in")
    refused(scaling("plot", folder), "Collect the study first")


# sbatch as far as `submit` needs it: carries each job out at once, and tells what was requested.
SBATCH = """#!/bin/sh
echo "$@" >> "$SBATCH_LOG"
for word; do script=$word; done
bash "$script" > /dev/null || exit
wc -l < "$SBATCH_LOG"
"""


def test_submit_makes_a_job_for_each_number_of_ranks_with_something_left(small, folder):
    script(folder / "sbatch", SBATCH)
    log = folder / "log"
    settings = {**support.WITHOUT_PICTURES, "PATH": f"{folder}:{os.environ['PATH']}",
                "SBATCH_LOG": str(log)}  # fmt: skip
    missing = [small / "runs" / f"bench-combine.weak.{ranks:05}-ranks.001.json" for ranks in (1, 2)]
    for path in missing:
        path.unlink()
    words = ("submit", small, "--sbatch=--time=7", "--ranks-per-node", 1)
    outcome = scaling(*words, env=settings)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "jobs 1, 2; job 3 collects what they measured\n"
    jobs = log.read_text().splitlines()
    assert all("--time=7" in job for job in jobs)
    assert "--nodes=1 --ntasks=1 --ntasks-per-node=1 " in jobs[0]
    assert "--nodes=2 --ntasks=2 --ntasks-per-node=1 " in jobs[1]
    assert "--dependency=afterany:1:2" in jobs[2]
    assert all(path.exists() for path in missing)
    assert (small / "study.csv").stat().st_mtime > max(path.stat().st_mtime for path in missing)
    assert scaling(*words, env=settings).stdout == "jobs none; job 4 collects what they measured\n"


def synthetic(workload, scaling_, quantity, ranks, size, times, stage_bytes=""):
    return [{**dict.fromkeys(table.COLUMNS, ""), "workload": workload, "scaling": scaling_,
             "ranks": str(ranks), "hosts": "1", "gpus": str(ranks), "repeat": str(repeat),
             "bytes": str(size), "quantity": quantity, "seconds": repr(seconds),
             "stage_bytes": str(stage_bytes)} for repeat, seconds in enumerate(times, 1)]


def efficiencies(rows):
    (series,) = figures.series_of(rows)
    return [point.efficiency.median for point in series.points]


def test_efficiency_of_a_strong_study():
    rows = synthetic("reduce", "strong", "whole run", 2, 64, (4.0, 3.0, 5.0))
    rows += synthetic("reduce", "strong", "whole run", 4, 64, (2.5, 2.0, 8.0))
    (series,) = figures.series_of(rows)
    first, second = series.points
    assert (first.speedup.median, first.efficiency.median) == (2.0, 1.0)
    assert second.seconds == figures.Times(2.5, 2.0, 8.0, 2.0, 8.0)
    assert second.rate == figures.Times(64 / 2.5, 64 / 8, 64 / 2, 64 / 8, 64 / 2)
    assert second.speedup.median == 4.0 / 2.5 * 2
    assert first.efficiency == figures.Times(1.0, 1.0, 1.0, 1.0, 1.0)
    # Rates of 2 ranks: 64 / 5 to 64 / 3; of 4 ranks: 64 / 8 to 64 / 2.
    ends = pytest.approx((8 / (64 / 3) / 2, 32 / (64 / 5) / 2))
    assert (second.efficiency.low, second.efficiency.high) == ends
    assert (second.efficiency.least, second.efficiency.most) == ends
    assert second.efficiency.median == 0.8


def test_efficiency_of_a_weak_study():
    rows = synthetic("reduce", "weak", "whole run", 1, 64, (4.0,))
    rows += synthetic("reduce", "weak", "whole run", 4, 256, (5.0,))
    assert efficiencies(rows) == [1.0, 0.8]


def test_scans_in_memory_are_counted_by_bytes_moved():
    rows = synthetic("bench collectives", "weak", "inclusive (scan)", 1, 64, (2.0,), 128)
    rows += synthetic("bench collectives", "weak", "inclusive (scan)", 2, 128, (3.0,), 192)
    assert efficiencies(rows) == [1.0, 1.0]


def bench_report(*rows):
    keys = ("group", "operation", "kernel", "elements", "bytes", "useful_bytes", "median")
    return {"results": [{**dict(zip(keys, row)), "seconds": row[-1] and {"median": row[-1]}}
                        for row in rows]}  # fmt: skip


def test_rows_of_a_bench_are_distinguished():
    reduce = bench_report(("reduce f32 uniform", "sum", "fold", 8, 32, 32, 1.0),
                          ("reduce f32 wide", "sum", "fold", 8, 32, 32, 2.0),
                          ("reduce f32 wide, to a value on the host", "sum", "fold", 8, 32, 32, 3.0),
                          ("reduce f32 uniform", "sum", "CUB", 8, 32, 32, None))  # fmt: skip
    run = {"workload": "bench reduce", "ranks": 2, "name": "it"}
    assert list(table.bench_quantities(run, reduce)) == [
        ("sum (fold)", "", 1.0, "", 32), ("sum (fold), wide", "", 2.0, "", 32),
        ("sum (fold), wide, to a value on the host", "", 3.0, "", 32),
    ]  # fmt: skip
    combine = bench_report(("combine", "MPI_Reduce", "MPI", 0, 2264, 0, 1.0),
                           ("combine", "fold, MPI_Reduce", "fold", 128, 1024, 1024, 2.0))
    run = {"workload": "bench combine", "ranks": 2, "name": "it"}
    assert list(table.bench_quantities(run, combine)) == [
        ("MPI_Reduce", "", 1.0, "", 2264), ("fold, MPI_Reduce of 1 KiB", "", 2.0, "", 1024),
    ]  # fmt: skip
    ingest = bench_report(("", "sum", "warpfold", 8, 64, 64, 1.0))
    run = {"workload": "bench ingest", "ranks": 4, "name": "it"}
    assert list(table.bench_quantities(run, ingest)) == [("sum (warpfold)", "", 1.0, "", 16)]
    twice = bench_report(*2 * [("reduce f32", "sum", "fold", 8, 32, 32, 1.0)])
    with pytest.raises(table.Problem, match="several sizes or types"):
        list(table.bench_quantities(run, twice))


def test_scaling_is_held_against_that_of_the_ceiling():
    rows = []
    for quantity, times in (("sum (warpfold)", (4.0, 2.5)), ("read (raw)", (3.0, 1.6))):
        for ranks, seconds in zip((1, 2), times):
            rows += synthetic("bench ingest", "strong", quantity, ranks, 64, (seconds,),
                              64 // ranks)  # fmt: skip
    mine, raw = figures.series_of(rows)
    assert figures.of_ceiling(mine, [mine, raw]) == [1.0, 1.6 / 1.875]
    assert figures.of_ceiling(raw, [mine, raw]) == [None, None]


def test_what_stages_leave_of_a_run_is_its_start():
    rows = synthetic("scan", "strong", "whole run", 1, 64, (8.0, 9.0))
    for name, seconds, waiting in (("read", 1.0, 3.0), ("write", 2.0, 2.5), ("combine", 0.5, 0.0)):
        rows += [{**row, "waiting": repr(waiting)}
                 for row in synthetic("scan", "strong", name, 1, 64, (seconds, seconds))]
    starts = [row["seconds"] for row in figures.with_starts(rows)
              if row["quantity"] == figures.START]
    assert starts == ["3.0", "4.0"]
    assert [row for row in figures.with_starts(rows) if row["quantity"] != figures.START] == sorted(
        rows, key=lambda row: row["repeat"])


def test_rounds_begin_with_another_number_of_ranks_each():
    study = plan.Plan(workloads=("reduce",), scalings=("strong",), ranks=(1, 2, 4), repeats=2)
    order = [(run.repeat, run.ranks) for run in plan.runs_of(study)]
    assert order == [(0, 1), (0, 2), (0, 4), (1, 2), (1, 4), (1, 1), (2, 4), (2, 1), (2, 2)]


def test_the_next_smaller_number_of_ranks_computes_a_weak_dataset_too():
    study = plan.Plan(workloads=("reduce",), scalings=("weak",), ranks=(1, 2, 4), bytes=64)
    assert [(run.ranks, run.launched_ranks, run.bytes) for run in plan.controls(study)] == [
        (2, 1, 128), (4, 2, 256)
    ]  # fmt: skip


def test_submit_refuses_what_slurm_could_not_give(folder):
    script(folder / "sbatch", "#!/bin/sh\necho 'sbatch: error: too many nodes' >&2\nexit 1\n")
    there = {**support.ENVIRONMENT, "PATH": f"{folder}:{os.environ['PATH']}"}
    _, *words = study_words(folder)
    refused(scaling("submit", *words, env=there), "too many nodes")
    refused(scaling("submit", *words, "--site", "nowhere", env=there), "'nowhere'")
    words[0] = folder / "other"
    refused(scaling("submit", *words, "--backend", "auto", env=there), "--backend auto")
    nowhere = {**support.ENVIRONMENT, "PATH": str(folder / "scratch")}
    refused(scaling("submit", *words, env=nowhere), "no sbatch")
    assert not words[0].exists()
