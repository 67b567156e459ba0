"""Statistics by label, beside NumPy's unique labels and fractions."""

import csv

import h5py
import numpy as np
import pytest
import xarray

import reference
import samples
import support
from test_mask import add

SHAPE = (9, 23, 31)
STORAGE = [
    {},
    {"chunks": (1, 23, 31), "shuffle": True, "compression": "gzip"},
    {"chunks": (4, 5, 8)},
]
STATISTICS = ("count", "sum", "mean", "var", "min", "max", "argmin", "argmax")


def random_labels(shape, labels, seed=1):
    """Runs of labels, and lone ones."""
    random = np.random.default_rng(seed)
    count = int(np.prod(shape))
    runs = np.repeat(random.choice(labels, count), random.integers(1, 50, count))[:count]
    return np.where(random.random(count) < 0.3, random.choice(labels, count), runs).reshape(shape)


def labelled_file(folder, values, labels, name="f64", kind="i4", storage={}, label_storage={}):
    """A file of `values` and of labels beside them."""
    path = support.write(folder / "in.h5", values, name, **storage)
    return add(path, "halo", np.asarray(labels).astype(kind), **label_storage)


def true_by_label(values, labels, kept=True, ddof=0):
    """Statistics of all labels; of those without an element the count alone."""
    labels = np.broadcast_to(labels, values.shape).ravel()
    kept = np.broadcast_to(kept, values.shape).ravel()
    true = {}
    for label in np.unique(labels).tolist():
        places = np.flatnonzero((labels == label) & kept)
        if places.size == 0:
            true[label] = {"count": 0, "min": None, "max": None}
            continue
        of_label = reference.statistics(values.ravel()[places], ddof)
        of_label |= {each: int(places[of_label[each]]) for each in ("argmin", "argmax")}
        true[label] = {each: of_label[each] for each in STATISTICS}
    return true


def by_label(outcome):
    return {
        each["label"]: {key: value for key, value in each.items() if key != "label"}
        for each in outcome.report["results"]
    }


def expect(outcome, true):
    found = by_label(outcome)
    assert list(found) == sorted(true)
    for label, of_label in true.items():
        assert {each: found[label][each] for each in of_label} == of_label


def reduce(path, *arguments, **options):
    return support.reduce(
        path, "values", "--by", "halo", *arguments, ops=",".join(STATISTICS), **options
    )


@pytest.mark.parametrize("label_storage", STORAGE)
@pytest.mark.parametrize("storage", STORAGE)
def test_statistics_by_label(folder, storage, label_storage):
    values = samples.typed("f64", SHAPE, seed=3)
    labels = random_labels(SHAPE, np.arange(-20, 20))
    path = labelled_file(folder, values, labels, storage=storage, label_storage=label_storage)
    results = set()
    for ranks, slab in ((1, "1M"), (2, "4K"), (3, "16K"), (5, "4K")):
        outcome = reduce(path, "--slab", slab, ranks=ranks)
        expect(outcome, true_by_label(values, labels))
        results.add(str(outcome.report["results"]))
    assert len(results) == 1


@pytest.mark.parametrize("shape", [(23, 31), (31,), (1, 23, 31), (1, 1)])
@pytest.mark.parametrize("storage", STORAGE)
def test_labels_of_the_last_dimensions(folder, shape, storage):
    values = samples.typed("f32", SHAPE, seed=4)
    labels = random_labels(shape, [1, 2, 3, 5, 8])
    path = labelled_file(folder, values, labels, "f32", storage=storage)
    for ranks in (1, 4):
        outcome = reduce(path, "--slab", "4K", ranks=ranks)
        expect(outcome, true_by_label(values, labels))


@pytest.mark.parametrize("name", [*support.INTEGER_TYPES, "f16"])
def test_types_of_elements(folder, name):
    values = samples.typed(name, (40, 50), seed=5)
    labels = random_labels((40, 50), np.arange(7))
    path = labelled_file(folder, values, labels, name)
    expect(reduce(path, ranks=2), true_by_label(values, labels))


@pytest.mark.parametrize("kind", ["i1", "u1", ">i2", "u2", "i4", ">u4", "i8", ">u8"])
def test_types_of_labels(folder, kind):
    limits = np.iinfo(kind)
    values = samples.typed("f64", (1000,), seed=6)
    labels = random_labels((1000,), np.array([limits.min, limits.max, 7, 1], kind))
    path = labelled_file(folder, values, labels, kind=kind)
    expect(reduce(path), true_by_label(values, labels))


def test_more_labels_than_a_slab_has_elements(folder):
    values = samples.typed("i32", (60_000,), seed=7)
    labels = np.random.default_rng(8).permutation(60_000) // 2 * 1_000_003
    path = labelled_file(folder, values, labels, "i32", "i8", storage={"chunks": (1000,)})
    output = folder / "out.nc"
    support.run("reduce", path, "values", "--by", "halo", "-o", output, ranks=5)
    with h5py.File(output) as file:
        found = np.unique(labels)
        assert np.array_equal(file["halo"][:], found)
        order = np.argsort(labels, kind="stable")
        assert np.array_equal(file["values_sum"][:], values[order].reshape(-1, 2).sum(1, "i8"))
        assert np.array_equal(file["values_min"][:], values[order].reshape(-1, 2).min(1))
        assert set(file["values_count"][:].tolist()) == {2}


def test_huge_terms_that_cancel(folder):
    random = np.random.default_rng(9)
    values = random.permutation(np.concatenate([samples.cancelling("f64", 5000, random)] * 3))
    labels = random.integers(0, 3, values.size)
    path = labelled_file(folder, values, labels)
    expect(reduce(path, "--slab", "4K", ranks=3), true_by_label(values, labels))


def test_fill_values_are_no_labels(folder):
    values = samples.typed("f64", (500,), seed=10)
    labels = random_labels((500,), [-1, 4, 6])
    path = labelled_file(folder, values, labels)
    with h5py.File(path, "a") as file:
        file["halo"].attrs["_FillValue"] = np.int32(-1)
    true = true_by_label(values, labels)
    del true[-1]
    expect(reduce(path, ranks=2), true)


def test_conditions_masks_and_selections_leave_elements_out(folder):
    values = samples.typed("f64", SHAPE, seed=11)
    labels = random_labels(SHAPE, np.arange(30))
    mask = random_labels((23, 31), [0, 1], seed=2)
    path = add(labelled_file(folder, values, labels), "mask", mask)
    kept = (values > 0) & (mask != 0)
    outcome = reduce(path, "--where", ">0", "--mask", "mask", "--select", "::2,3:,-1", ranks=3)
    part = np.s_[::2, 3:, -1]
    expect(outcome, true_by_label(values[part], labels[part], kept[part]))


def test_labels_without_elements_are_reported(folder):
    values = np.array([1.0, -2, 3, -4])
    path = labelled_file(folder, values, [5, 5, 6, 7])
    outcome = reduce(path, "--where", ">0", ranks=2)
    expect(outcome, true_by_label(values, np.array([5, 5, 6, 7]), values > 0))
    output = folder / "out.nc"
    support.run(
        "reduce", path, "values", "--by", "halo", "-o", output, "--where", ">0", "--ops",
        "min,mean,count", "--empty", "-99",
    )  # fmt: skip
    with h5py.File(output) as file:
        assert file["values_min"][:].tolist() == [1, 3, -99]
        assert file["values_mean"][:2].tolist() == [1, 3] and np.isnan(file["values_mean"][2])
        assert file["values_count"][:].tolist() == [1, 1, 0]


def test_nan_and_infinities(folder):
    values = np.array([1, np.nan, 3, np.inf, -np.inf, np.inf, 2, np.nan])
    path = labelled_file(folder, values, [1, 1, 1, 2, 3, 3, 4, 5])
    ops = "sum,count,max,argmin,nan_count,inf_count"
    found = by_label(support.reduce(path, "values", "--by", "halo", "--nan", "skip", ops=ops))
    assert [each["count"] for each in found.values()] == [2, 1, 2, 1, 0]
    assert [each["nan_count"] for each in found.values()] == [1, 0, 0, 0, 1]
    assert [each["inf_count"] for each in found.values()] == [0, 1, 2, 0, 0]
    assert [found[label]["sum"] for label in (1, 2, 4, 5)] == [4, np.inf, 2, 0]
    assert np.isnan(found[3]["sum"])
    propagated = by_label(support.reduce(path, "values", "--by", "halo", ops=ops))
    assert np.isnan(propagated[1]["sum"]) and propagated[1]["argmin"] == 1


def test_packed_data(folder):
    stored = samples.typed("i16", (700,), seed=12)
    labels = random_labels((700,), [1, 2])
    path = labelled_file(folder, stored, labels, "i16")
    with h5py.File(path, "a") as file:
        file["values"].attrs.update({"scale_factor": 0.25, "add_offset": 10.0})
    expect(reduce(path), true_by_label(stored * 0.25 + 10, labels))


def test_an_output_has_labels_as_its_coordinate(folder):
    values = samples.typed("f32", SHAPE, seed=13)
    labels = random_labels((23, 31), [3, 1, 40])
    path = labelled_file(folder, values, labels, "f32")
    output = folder / "out.nc"
    for ranks in (1, 3):
        support.run(
            "reduce", path, "values", "--by", "halo", "--ops", "sum,argmax", "-o", output,
            "--output-type", "f64", "--force", ranks=ranks,
        )  # fmt: skip
        true = true_by_label(values, labels)
        with xarray.open_dataset(output) as opened:
            assert opened["values_sum"].dims == ("halo",)
            assert opened["halo"].values.tolist() == [1, 3, 40]
            for label in (1, 3, 40):
                of_label = opened.sel(halo=label)
                assert float(of_label["values_sum"]) == true[label]["sum"]
                assert int(of_label["values_argmax"]) == true[label]["argmax"]


def test_more_labels_than_a_thread_keeps(folder):
    count = 2_600_000
    random = np.random.default_rng(5)
    labels = random.permutation(count) // 2
    values = random.integers(-1000, 1000, count)
    path = labelled_file(folder, values, labels, "i32", storage={"chunks": (100_000,)})
    output = folder / "out.h5"
    support.run("reduce", path, "values", "--by", "halo", "--ops", "sum,count", "-o", output,
                "--threads", 2)  # fmt: skip
    with h5py.File(output) as file:
        assert np.array_equal(file["halo"][...], np.arange(count // 2))
        assert np.array_equal(file["values_sum"][...], np.bincount(labels, values).astype("i8"))
        assert np.all(file["values_count"][...] == 2)


def test_dimensions_of_the_input_are_gone(folder):
    data = xarray.DataArray(
        np.arange(12.0).reshape(3, 4), dims=("y", "x"),
        coords={"y": [10, 20, 30], "x": [1, 2, 3, 4]}, name="mass",
    )  # fmt: skip
    halo = xarray.DataArray(np.array([[1, 1, 2, 2]] * 3, "i4"), dims=("y", "x"), name="halo")
    path = folder / "in.nc"
    xarray.merge([data, halo]).to_netcdf(path)
    output = folder / "out.nc"
    support.run("reduce", path, "mass", "--by", "halo", "--ops", "sum", "-o", output)
    with xarray.open_dataset(output) as opened:
        assert opened["mass"].dims == ("halo",)
        assert opened["mass"].values.tolist() == [27, 39]
        assert set(opened.coords) == {"halo"}


def test_reports(folder):
    values = np.arange(100.0)
    path = labelled_file(folder, values, np.arange(100) // 4)

    def printed(ops):
        words = ["reduce", path, "values", "--by", "halo", "--ops", ops]
        return support.run(*words).stdout.splitlines()[1:]

    head, *lines = printed("sum,argmin")
    assert head.split() == ["label", "sum", "argmin"]
    assert [line.split() for line in lines] == [
        [str(label), str(16 * label + 6), str(4 * label)] for label in range(25)
    ]
    *first, last = printed("sum,argmin,argmax,min,max")
    assert [line.split()[:3] for line in first[1:]] == [line.split() for line in lines[:20]]
    assert last.startswith("and 5 more labels")
    table = folder / "report.csv"
    support.run("reduce", path, "values", "--by", "halo", "--ops", "sum", "--csv", table)
    with open(table) as file:
        rows = list(csv.DictReader(file))
    assert [row["statistic"] for row in rows] == [f"sum[{label}]" for label in range(25)]
    assert [float(row["value"]) for row in rows] == values.reshape(25, 4).sum(1).tolist()


def test_several_datasets(folder):
    values = np.arange(6.0)
    path = add(labelled_file(folder, values, [1, 1, 2, 2, 2, 9]), "more", values * 2)
    outcome = support.run("reduce", path, "values", "more", "--by", "halo", "--json", "-")
    sums = [[each["sum"] for each in one["results"]] for one in outcome.report["datasets"]]
    assert sums == [[1, 9, 5], [2, 18, 10]]
    output = folder / "out.nc"
    support.run(
        "reduce", path, "values", "more", "--by", "halo", "--ops", "max", "-o", output, ranks=2
    )
    with xarray.open_dataset(output) as opened:
        assert opened["values"].values.tolist() == [1, 4, 5]
        assert opened["more"].values.tolist() == [2, 8, 10]
        assert opened["more"].dims == ("halo",)


@pytest.mark.parametrize("ranks", [1, 3])
def test_no_elements(folder, ranks):
    path = labelled_file(folder, np.zeros((0, 3)), np.zeros((0, 3)))
    assert reduce(path, ranks=ranks).report["results"] == []
    output = folder / "out.nc"
    support.run("reduce", path, "values", "--by", "halo", "-o", output, ranks=ranks)
    with xarray.open_dataset(output) as opened:
        assert opened["values_sum"].shape == (0,)


def test_one_element(folder):
    path = labelled_file(folder, np.array([[1.0, 2], [3, 4]]), [[1, 2], [3, 4]])
    found = by_label(reduce(path, "--select", "1,0"))
    assert found[3]["sum"] == 3 and len(found) == 1


def test_an_output_that_is_there_stays(folder):
    path = labelled_file(folder, np.arange(4.0), [1, 1, 2, 2])
    output = folder / "out.nc"
    output.write_text("mine")
    support.fail("reduce", path, "values", "--by", "halo", "-o", output, code=1, ranks=2)
    assert output.read_text() == "mine"
    for victim in (path, support.write(folder / "labels.h5", [1, 1, 2, 2], "i32", "halo")):
        support.fail(
            "reduce", path, "values", "--by", f"{victim}::halo", "-o", victim, "--force",
            code=2,
        )  # fmt: skip


@pytest.mark.parametrize(
    "arguments, code, mentions",
    [
        (["--by", "values"], 2, ["--by", "integers"]),
        (["--by", "halo::"], 2, ["--by"]),
        (["--by", ""], 2, ["--by"]),
        (["--by", "nothing"], 1, ["nothing"]),
        (["--by", "short"], 2, ["--by", "short"]),
        (["--by", "halo", "--axis", "0", "-o", "x.h5"], 2, ["halo", "2 dimensions"]),
        (["--by", "halo", "--ops", "median"], 2, ["--by"]),
        (["--by", "halo", "--force"], 2, ["--force", "-o"]),
        (["--by", "halo", "--keepdims", "-o", "x.h5"], 2, ["--keepdims"]),
    ],
)
@pytest.mark.parametrize("ranks", [None, 3])
def test_what_cannot_be(folder, arguments, code, mentions, ranks):
    path = labelled_file(folder, np.arange(8.0).reshape(2, 4), np.zeros((2, 4)))
    add(path, "short", np.zeros(3, "i4"))
    support.fail(
        "reduce", path, "values", *arguments, code=code, mentions=mentions, ranks=ranks,
        cwd=folder,
    )  # fmt: skip
    assert not (folder / "x.h5").exists()
