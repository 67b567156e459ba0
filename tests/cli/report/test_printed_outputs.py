"""Results along axes that are printed, without a file, beside those of a file and NumPy."""

import csv
import io
import math

import cftime
import h5py
import numpy as np
import pytest

import support
from samples import write_times

UNITS = "hours since 2000-12-30 06:00:00"
WORDS = ("--where", "!=7")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Integers of [time][lat][lon], some of whose places have no elements but 7."""
    path = tmp_path_factory.mktemp("printed") / "in.nc"
    with h5py.File(path, "w") as file:
        values = np.random.default_rng(1).integers(-99, 99, (5, 3, 4), "i4")
        values[2, 1] = values[:, 2, 3] = 7
        file["x"] = values
        file["x"].attrs["units"] = "K"
        for d, (name, numbers, units) in enumerate((("time", np.arange(5) * 12, UNITS),
                                                    ("lat", np.float32([-45.1, 0, 45.1]), "degrees_north"),
                                                    ("lon", np.arange(4.0), "degrees_east"))):  # fmt: skip
            file[name] = numbers
            file[name].attrs["units"] = units
            file[name].make_scale(name)
            file["x"].dims[d].attach_scale(file[name])
        file["time"].attrs["calendar"] = "360_day"
        file["zone"] = np.array([3, 1, 3], "i2")
        file["zone"].dims[0].attach_scale(file["lat"])
        file["name"] = np.array(["wet", "dry", "wet", "dry", "sea"], object)
        file["name"].dims[0].attach_scale(file["time"])
        file["bare"] = values
        file["labelled"] = values
        for d, name in enumerate("tyx"):
            file["labelled"].dims[d].label = name
    return path


def in_file(folder, *words, name="x", **options):
    """Outputs of a file, and where they are fill values, by what they were requested as."""
    out = folder / "out.nc"
    report = support.run("reduce", *words, "-o", out, "--force", "--json", "-", **options).report
    with h5py.File(out) as file:
        outputs = {}
        for each, of in report["results"]["datasets"].items():
            dataset = file[of["dataset"]]
            values = dataset[()]
            missing = np.zeros(values.shape, bool)
            if "_FillValue" in dataset.attrs:
                fill = dataset.attrs["_FillValue"]
                missing = values == fill
            outputs[each] = (values, missing)
        return outputs, {each: file[each][()] for each in file}


def same(printed, values, missing):
    found = np.array(printed, object)
    assert found.shape == values.shape
    for one, value, gone in zip(found.ravel(), values.ravel(), missing.ravel(), strict=True):
        assert one is None if gone else one == value or value != value and one != one


@pytest.mark.parametrize("ranks", [None, 2, 3])
@pytest.mark.parametrize("words, dimensions", [
    (("--axis", "lat,lon"), ["time"]), (("--axis", "time,lon"), ["lat"]),
    (("--axis", "0,1,2"), []), (("--axis", "time,lat"), ["lon"]),
    (("--axis", "time", "--select", "lat=1:"), ["lat", "lon"]),
    (("--axis", "time", "--select", "lon=0"), ["lat"]),
    (("--axis", "time,lat,lon", "--every", "2"), ["time"]),
    (("--axis", "time,lat,lon", "--every", "month"), ["time"]),
    (("--axis", "time,lat,lon", "--by", "name"), ["name"]),
    (("--axis", "lat,lon", "--by", "zone"), ["time", "zone"]),
    (("--axis", "time,lon", "--keepdims"), ["time", "lat", "lon"]),
])  # fmt: skip
def test_numbers_are_those_of_a_file(tmp_path, path, words, dimensions, ranks):
    # Labels of several dimensions have no quantiles.
    ops = ("--ops", "mean,min,max,argmax,count" + ",median" * ("zone" not in words), *WORDS, *words)
    wanted, scales = in_file(tmp_path, path, "x", *ops)
    outcome = support.run("reduce", path, "x", *ops, "--json", "-", "--csv", tmp_path / "out.csv",
                          ranks=ranks)  # fmt: skip
    results = outcome.results
    assert results["output_shape"] == list(next(iter(wanted.values()))[0].shape)
    assert [each["name"] for each in results["coordinates"]] == dimensions
    for each in results["coordinates"]:
        scale = scales[each["name"]]
        texts = [text.decode() if isinstance(text, bytes) else text for text in scale]
        assert each["texts" if isinstance(texts[0], str) else "values"] == texts
    for name, (values, missing) in wanted.items():
        assert results["datasets"][name]["dtype"].replace("int", "i") in ("f64", "i32", "i64", "u64")
        same(results["datasets"][name]["values"], values, missing)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    for name, (values, missing) in wanted.items():
        cells = [row["value"] for row in rows if row["statistic"] == name]
        assert cells == ["" if gone else str(value) if isinstance(value, np.integer) else repr_of(value)
                         for value, gone in zip(values.ravel(), missing.ravel())]  # fmt: skip
    assert set(dimensions) == set(rows[0]) - {"command", "file", "dataset", "dtype", "ranks", "backend",
                                              "statistic", "value", "seconds"}  # fmt: skip


def repr_of(value):
    text = repr(float(value))
    return text.removesuffix(".0")


def test_a_table_has_coordinates_dates_and_units(path):
    lines = support.run("reduce", path, "x", "--axis", "lat,lon", "--ops", "max,mean,count").stdout
    table = [line.split("  ") for line in lines.splitlines()[1:]]
    table = [[cell.strip() for cell in row if cell.strip()] for row in table]
    with h5py.File(path) as file:
        values = file["x"][()].reshape(5, -1)
    dates = cftime.num2date(np.arange(5) * 12, UNITS, "360_day")
    assert table[0] == ["time", "max (K)", "mean (K)", "count"]
    for row, date, line in zip(table[1:], dates, values, strict=True):
        assert row[0] == date.isoformat().removesuffix("T00:00:00")
        assert [float(cell) for cell in row[1:]] == [line.max(), math.fsum(line) / 12, 12]


def test_floats_are_printed_as_the_shortest_of_their_type(tmp_path):
    values = np.float32([[0.1, 2.7], [3.3, -0.3]])
    support.write(tmp_path / "in.h5", values, "f32")
    outcome = support.run("reduce", tmp_path / "in.h5", "values", "--axis", 0, "--ops", "max", "--json",
                          tmp_path / "out.json")  # fmt: skip
    assert [line.split() for line in outcome.stdout.splitlines()[1:]] == [
        ["dim_1", "max"], ["0", "3.3"], ["1", "2.7"],
    ]  # fmt: skip
    found = support.parsed((tmp_path / "out.json").read_text())["results"]
    assert found["datasets"]["max"]["values"] == values.max(0).tolist()
    assert found["coordinates"] == [{"name": "dim_1"}]


def test_dimensions_have_their_labels_and_no_coordinates(path):
    found = support.run("reduce", path, "labelled", "--axis", 1, "--ops", "sum", "--json", "-").results
    with h5py.File(path) as file:
        assert found["datasets"]["sum"]["values"] == file["x"][()].sum(1).tolist()
    assert found["coordinates"] == [{"name": "t"}, {"name": "x"}]


def test_times_are_dates_as_results_too(path):
    found = support.run("reduce", path, "time", "--axis", 0, "--ops", "max,std", "--json", "-").results
    date = cftime.num2date(48, UNITS, "360_day").isoformat()
    assert found["datasets"]["max"] == {
        "dtype": "i64", "units": UNITS, "calendar": "360_day", "values": 48, "dates": date,
    }  # fmt: skip
    assert found["datasets"]["std"]["units"] == "hours" and "dates" not in found["datasets"]["std"]


def test_packed_coordinates_are_unpacked(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["x"] = np.arange(6.0).reshape(3, 2)
        file["lat"] = np.array([0, 1, 2], ">i2")
        file["lat"].attrs.update(scale_factor=0.5, add_offset=10.0)
        file["lat"].make_scale("lat")
        file["x"].dims[0].attach_scale(file["lat"])
    found = support.run("reduce", tmp_path / "in.h5", "x", "--axis", 1, "--json", "-").results
    assert found["coordinates"] == [{"name": "lat", "values": [10.0, 10.5, 11.0]}]


def test_several_datasets(path):
    outcome = support.run("reduce", path, "x", "bare", "--axis", "1,2", "--ops", "sum", "--json", "-")
    with h5py.File(path) as file:
        sums = file["x"][()].sum((1, 2)).tolist()
    for entry in outcome.report["datasets"]:
        assert entry["results"]["datasets"]["sum"]["values"] == sums
    text = support.run("reduce", path, "x", "bare", "--axis", "1,2", "--ops", "sum").stdout
    for number in sums:
        assert sum(line.split()[-1:] == [str(number)] for line in text.splitlines()) == 2


@pytest.mark.parametrize("ranks", [None, 2])
def test_too_many_are_an_error_before_data_is_read(tmp_path, ranks):
    """The data cannot be read: its chunk is damaged."""
    support.write(tmp_path / "in.h5", np.zeros((101, 2)), "f64", chunks=(101, 2), compression="gzip")
    with h5py.File(tmp_path / "in.h5") as file:
        chunk = file["values"].id.get_chunk_info(0)
    with open(tmp_path / "in.h5", "r+b") as file:
        file.seek(chunk.byte_offset)
        file.write(b"\xff" * 8)
    words = ("reduce", tmp_path / "in.h5", "values", "--axis", 1)
    support.fail(*words, code=2, mentions=["101 results", "at most 100", "--output"], ranks=ranks)
    support.fail(*words, "--select", ":51", "--ops", "min,max", code=2, mentions=["102"], ranks=ranks)
    support.fail(*words, "--select", ":100", code=1, mentions=["chunk"], ranks=ranks)


def test_what_needs_a_file(path):
    for option in ("--append", "--force", "--shuffle", "--zstd", "--deflate"):
        support.fail("reduce", path, "x", "--axis", 0, option, code=2, mentions=[option, "-o"])
    for command in ("reduce", "scan", "compact"):
        support.fail(command, path, "x", "-o", "-", code=2, mentions=["standard output"])


def test_outputs_without_elements(tmp_path):
    write_times(tmp_path / "in.nc", np.arange(9.0), "days since 2001-01-01", "standard")
    words = ("reduce", tmp_path / "in.nc", "x", "--axis", "time", "--every", "day", "--ops", "max,count")
    results = support.run(*words, "--where", "year==1999", "--json", "-").results
    assert results["output_shape"][0] == 0
    assert [each["values"] for each in results["datasets"].values()] == [[], []]


@pytest.mark.parametrize("ranks", [None, 2])
def test_labels_have_a_column(tmp_path, ranks):
    values = np.random.default_rng(2).integers(0, 9, 50)
    labels = np.random.default_rng(3).integers(0, 45, 50)
    support.write(tmp_path / "in.h5", values, "i64")
    with h5py.File(tmp_path / "in.h5", "a") as file:
        file["code"] = labels
        file["text"] = np.array([f"a,{label}" for label in labels], object)
    for name, label_of in (("code", str), ("text", "a,{}".format)):
        outcome = support.run("reduce", tmp_path / "in.h5", "values", "--by", name, "--ops", "sum,count",
                              "--csv", tmp_path / "out.csv", ranks=ranks)  # fmt: skip
        rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
        sums = {row["label"]: row["value"] for row in rows if row["statistic"].startswith("sum[")}
        assert sums == {label_of(each): str(values[labels == each].sum()) for each in labels}
        for row in rows:
            assert row["statistic"].endswith(f"[{row['label']}]")
        # As many as 100 numbers are printed.
        assert len(outcome.stdout.splitlines()) == 2 + len(set(labels))
