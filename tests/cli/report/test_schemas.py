"""JSON reports are what their schemas say, and no value's type depends on the value."""

import copy
import functools
import json
import re

import h5py
import jsonschema
import numpy as np
import pytest

import support

FOLDER = support.ROOT / "src/cli/report/schemas"
SCHEMAS = {path.name: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
# Only a GPU's reports have these.
OF_GPUS = {"compute_capability", "multiprocessors", "memory_bytes", "l2_bytes", "driver", "runtime", "cub"}


@functools.cache
def validator(name):
    resolver = jsonschema.RefResolver((FOLDER / name).as_uri(), SCHEMAS[name])
    return jsonschema.Draft202012Validator(SCHEMAS[name], resolver=resolver)


def validator_of(report):
    name, version = re.fullmatch(r"warpfold\.([a-z-]+)/(\d+)", report["schema"]).groups()
    assert version == "1"
    return validator(name + ".json")


def make_inputs(folder):
    with h5py.File(folder / "in.h5", "w") as file:
        time = file.create_dataset("time", data=[np.nan, 1, 2, 3])
        x = file.create_dataset("x", data=np.arange(6))
        for scale in (time, x):
            scale.make_scale()
        random = np.random.default_rng(1)
        wild = random.normal(size=(4, 6))
        wild[1, 1], wild[2, 2] = np.nan, np.inf
        values = {
            "plain": random.normal(size=(4, 6)),
            "wild": wild,
            "big": np.full((4, 6), 2**62 + 1),
            "packed": np.arange(24, dtype="i2").reshape(4, 6),
            "bytes": np.arange(-12, 12, dtype="i1").reshape(4, 6),
            "odd": np.ones((4, 6), "f4"),
            "labels": np.arange(24).reshape(4, 6) % 3,
        }
        for name, array in values.items():
            file[name] = array
            file[name].dims[0].attach_scale(time)
            file[name].dims[1].attach_scale(x)
        file["packed"].attrs.update(
            scale_factor=np.float32(0.5), add_offset=10, _FillValue=np.int16(3),
            missing_value=np.int16(5), valid_min=np.int16(-100), valid_max=np.int16(20),
        )  # fmt: skip
        file["bytes"].attrs["_Unsigned"] = "true"
        file["odd"].attrs.update(_FillValue=np.float32(np.nan), valid_range="everything")
        file["mask"] = np.uint8([0, 1, 1, 0, 1, 1])
        file["weights"] = np.linspace(0, 1, 6)
        file["seasonal"] = np.arange(4.0)
        file["date"] = np.array([0, 31, 59, 90])
        file["date"].attrs.update(units="days since 2001-01-01", calendar="noleap")
        file["date"].make_scale()
        file["dated"] = np.arange(4.0)
        file["dated"].dims[0].attach_scale(file["date"])
        file["seasons"] = np.array([b"wet", b"dry", b"wet", b"dry"])
        file["empty"] = np.zeros((0, 3))
        file["strings"] = np.array(["not", "numbers"], object)
        file.create_dataset("zipped", data=wild, chunks=(2, 3), compression="gzip", shuffle=True)
    for number in (1, 2):
        with h5py.File(folder / f"part{number}.h5", "w") as file:
            file["values"] = np.arange(8.0).reshape(4, 2)
            file["packed"] = np.arange(8, dtype="i2")
            file["packed"].attrs["scale_factor"] = 0.5 * number


# A command and its words, "out" standing for an output of its own.
COMMANDS = [
    *[f"reduce in.h5 {name} --ops all,median,q05" for name in ("plain", "wild", "big", "packed",
                                                              "bytes", "odd", "zipped", "empty")],
    "reduce in.h5 plain --ops argmin",
    "reduce in.h5 plain --ops median --quantile-method nearest",
    "reduce in.h5 plain --weights weights",
    "reduce in.h5 plain --times big",
    "reduce in.h5 packed --raw --fill-value 7 --mask mask --where >0 --where <20 --select :,::2",
    "reduce in.h5 --all --ops sum,argmax",
    "reduce part1.h5 part2.h5 values --concat 0 --match position",
    "reduce part1.h5 part2.h5 packed --concat 0 --match position",
    "reduce in.h5 plain --axis time -o out --ops mean,q05,argmax --quantile-method lower",
    "reduce in.h5 plain big --axis 0 --every 3 -o out --ops min",
    "reduce in.h5 dated --axis date --every month --complete --min-count 1 -o out",
    "reduce in.h5 plain --axis 0 --by seasons -o out",
    "reduce in.h5 plain --axis 1 --weights weights -o out",
    "reduce in.h5 plain --axis 1 --times big -o out",
    "reduce in.h5 zipped --axis 0 -o out",
    "reduce in.h5 dated date --axis date --ops min,argmax,count --places coordinates",
    "reduce in.h5 dated --axis 0 --every month --ops mean,max",
    "reduce in.h5 plain --axis 0 --by seasons --ops std,q0.999,argmin",
    "reduce in.h5 wild --axis 0,1",
    "reduce in.h5 wild --by labels --ops all",
    "reduce in.h5 plain big --by labels --ops sum,min",
    "reduce in.h5 plain --by labels --where >100",
    "reduce in.h5 seasonal --by seasons",
    "reduce in.h5 plain --by labels -o out",
    "histogram in.h5 plain --bins 4",
    "histogram in.h5 wild --bins -inf,0,1,inf",
    "histogram in.h5 --all --range 0,1",
    "scan in.h5 plain -o out",
    "scan in.h5 wild -o out",
    "scan in.h5 big -o out --overflow wrap",
    "scan in.h5 plain -o out --axis time",
    "scan in.h5 zipped -o out --axis 1",
    "scan in.h5 plain packed -o out --offsets",
    "compact in.h5 plain -o out --where >0",
    "compact in.h5 wild -o out --where nan --indices",
    "compact in.h5 plain big -o out --where >0",
    "info in.h5",
    "info in.h5 --all",
    *[f"info in.h5 {name}" for name in ("plain", "wild", "packed", "bytes", "odd", "zipped",
                                        "dated")],
    *[f"info in.h5 zipped --plan {plan}" for plan in ("reduce", "histogram", "scan", "compact",
                                                     "scan --axis 0", "reduce --axis 0,1")],
    "info in.h5 packed --raw --fill-value 7 --mask mask --where >0 --select 1",
    "info part1.h5 part2.h5 values --concat 0",
    "generate iota out values --shape 100 --type i32",
    "generate uniform out values --shape 5 --seed 18446744073709551615",
    "generate normal out values --shape 10,10 --chunks auto --deflate",
    "generate constant out values --shape 3 --value nan",
    "generate constant out values --shape 3 --value inf",
    "bench combine --iterations 1 --backend cpu",
    "bench ingest in.h5 zipped --iterations 1 --kernels warpfold,raw,inflate",
]  # fmt: skip
FAILING = "scan in.h5 big -o out"


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    make_inputs(folder)
    found = {}
    for number, command in enumerate(COMMANDS):
        words = command.replace(" out", f" out{number}.h5").split()
        outcome = support.attempt(*words, "--json", "-", cwd=folder, backend=None)
        assert outcome.code == 0, f"{command}: {outcome.stderr}"
        found[command] = json.loads(outcome.stdout)
    return found


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metrics")
    make_inputs(folder)
    lines = []
    for command, code in (("reduce in.h5 plain big", 0), (FAILING, 1)):
        words = [*command.replace(" out", " out.h5").split(), "--metrics", "metrics"]
        assert support.attempt(*words, cwd=folder, backend=None).code == code
        lines += (folder / "metrics").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_schemas_are_schemas():
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_reports_are_what_their_schemas_say(reports):
    for command, report in reports.items():
        errors = [f"{list(each.absolute_path)}: {each.message}"
                  for each in validator_of(report).iter_errors(report)]  # fmt: skip
        assert not errors, f"{command}\n" + "\n".join(errors)


def test_metrics_are_what_their_schema_says(metrics):
    assert {line["state"] for line in metrics} == {"running", "done", "failed"}
    for line in metrics:
        validator_of(line).validate(line)


@pytest.mark.skipif(support.gpu_count() == 0, reason="measures GPUs")
@pytest.mark.parametrize("command", ["bench reduce --sizes 1M", "ladder reduce --elements 1000000"])
def test_measurements_of_gpus_are_what_their_schemas_say(command):
    report = json.loads(support.run(*command.split(), "--iterations", 1, "--json", "-").stdout)
    validator_of(report).validate(report)


def nodes(value, path=()):
    yield path, value
    if isinstance(value, dict):
        for key, each in value.items():
            yield from nodes(each, (*path, key))
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from nodes(each, (*path, index))


def first_nodes(report):
    """The nodes of a report, of lists those of the first two elements."""
    return [(path, node) for path, node in nodes(report)
            if not any(isinstance(part, int) and part > 1 for part in path)]  # fmt: skip


def properties_of(schema):
    return {name for path, node in nodes(schema)
            if isinstance(node, dict) and path[-1:] not in (("properties",), ("$defs",))
            for name in node.get("properties", {})}  # fmt: skip


def test_every_property_is_in_a_report(reports, metrics):
    seen = {part for report in [*reports.values(), *metrics] for path, _ in nodes(report)
            for part in path}  # fmt: skip
    documented = set().union(*map(properties_of, SCHEMAS.values()))
    assert len(documented) > 100
    assert documented - seen <= OF_GPUS


def changed(report, path, change):
    """A copy of a report, with what is at `path` replaced by what `change` makes of it."""
    altered = copy.deepcopy(report)
    if not path:
        return change(altered)
    holder = altered
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = change(holder[path[-1]])
    return altered


def one_of_each(reports):
    """The longest report of each schema."""
    longest = {}
    for report in sorted(reports, key=lambda each: len(json.dumps(each))):
        longest[report["schema"]] = report
    return longest.values()


def test_schemas_refuse_members_that_they_do_not_name(reports, metrics):
    for report in one_of_each([*reports.values(), *metrics]):
        for path, node in first_nodes(report):
            if isinstance(node, dict):
                wrong = changed(report, path, lambda each: {**each, "unknown": [[]]})
                assert not validator_of(report).is_valid(wrong), path


def test_schemas_refuse_numbers_that_are_strings(reports, metrics):
    for report in one_of_each([*reports.values(), *metrics]):
        for path, node in first_nodes(report):
            if isinstance(node, (int, float)) and path[-1] != "label":
                assert not validator_of(report).is_valid(changed(report, path, str)), path


def kind(value):
    """The type that JSON has for a value."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "number" if number else type(value).__name__


def test_types_do_not_depend_on_values(reports):
    kinds = {}
    for report in reports.values():
        for path, node in nodes(report):
            if node is not None and not isinstance(node, (dict, list)) and path[-1] != "label":
                place = tuple("*" if isinstance(part, int) else part for part in path)
                kinds.setdefault((report["schema"], place), set()).add(kind(node))
    assert {place for place, found in kinds.items() if len(found) > 1} == set()


def test_integers_have_all_digits(reports):
    values = 24 * (2**62 + 1)
    assert reports["reduce in.h5 big --ops all,median,q05"]["results"]["sum"] == values
    assert reports["scan in.h5 big -o out --overflow wrap"]["results"]["last"] == (
        (values + 2**63) % 2**64 - 2**63
    )


def test_what_is_not_finite_is_null_and_named(reports):
    report = reports["reduce in.h5 wild --ops all,median,q05"]
    names = ("sum", "mean", "var", "std", "min", "max", "l1", "l2", "linf", "median", "q05")
    assert all(report["results"][name] is None for name in names)
    assert report["not_finite"] == {f"/results/{name}": "nan" for name in names}
    assert "not_finite" not in reports["reduce in.h5 plain --weights weights"]
    empty = reports["reduce in.h5 empty --ops all,median,q05"]
    assert empty["results"]["min"] is None
    assert "/results/min" not in empty.get("not_finite", {})
    edges = reports["histogram in.h5 wild --bins -inf,0,1,inf"]
    assert edges["results"]["edges"] == [None, 0.0, 1.0, None]
    assert edges["not_finite"] == {"/results/edges/0": "-inf", "/results/edges/3": "inf"}
    info = reports["info in.h5 odd"]
    assert info["not_finite"] == {
        "/applied/fill_values/0": "nan", "/results/dimensions/0/first": "nan",
    }  # fmt: skip


def test_floats_have_a_point_or_an_exponent(reports):
    weighted = reports["reduce in.h5 plain --weights weights"]["results"]
    assert isinstance(weighted["sum_of_weights"], float) and isinstance(weighted["count"], int)
    assert weighted["sum_of_weights"] == 12.0
