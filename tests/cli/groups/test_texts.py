"""Labels that are texts, beside dictionaries."""

import csv
import fractions

import h5py
import numpy as np
import pytest

import support

NAMES = ["Norden", "Süden", "Ost", "o", "", "Westlicher Teil", "zz top"]
STORAGE = [{}, {"chunks": True, "compression": "gzip"}]
KINDS = ["fixed", "padded by zeros", "padded by spaces", "variable", "characters"]


def add_texts(file, name, texts, kind, storage={}):
    texts = np.asarray(texts, object)
    if kind == "variable":
        file.create_dataset(name, data=texts, dtype=h5py.string_dtype(), **storage)
        return
    encoded = np.array([each.encode() for each in texts.ravel()], "S20").reshape(texts.shape)
    if kind == "characters":
        characters = encoded.view("S1").reshape(*texts.shape, 20)
        file.create_dataset(name, data=characters, **storage)
        return
    padding = {"fixed": h5py.h5t.STR_NULLTERM, "padded by zeros": h5py.h5t.STR_NULLPAD,
               "padded by spaces": h5py.h5t.STR_SPACEPAD}[kind]  # fmt: skip
    stored = h5py.h5t.C_S1.copy()
    stored.set_size(20)
    stored.set_strpad(padding)
    made = file.create_dataset(name, texts.shape, h5py.Datatype(stored), **storage)
    if padding == h5py.h5t.STR_SPACEPAD:
        encoded = np.char.ljust(encoded, 20)
    made.id.write(h5py.h5s.ALL, h5py.h5s.ALL, encoded, stored)


def true_sums(values, texts):
    """Counts and exact sums by text; an empty one is none."""
    true = {}
    for value, text in zip(values.ravel().tolist(), np.ravel(texts).tolist()):
        if text:
            count, total = true.get(text, (0, 0))
            true[text] = (count + 1, total + fractions.Fraction(value))
    return {text: true[text] for text in sorted(true, key=str.encode)}


def labelled_sums(outcome):
    return {each["label"]: (each["count"], fractions.Fraction(each["sum"]))
            for each in outcome.report["results"]}  # fmt: skip


def random_texts(shape, seed=1):
    return np.random.default_rng(seed).choice(np.array(NAMES, object), shape)


@pytest.fixture
def path(folder):
    return folder / "in.h5"


def write(path, shape, kind, storage={}, label_shape=None):
    values = np.random.default_rng(2).integers(-(2**40), 2**40, shape).astype("f8")
    texts = random_texts(label_shape or shape)
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, **storage)
        add_texts(file, "labels/region", texts, kind, storage)
    return values, texts


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("storage", STORAGE)
@pytest.mark.parametrize("kind", KINDS)
def test_elements_of_each_text(path, kind, storage, ranks):
    for shape, label_shape in [((70_000,), None), ((7, 30, 40), None), ((7, 30, 40), (30, 40))]:
        values, texts = write(path, shape, kind, storage, label_shape)
        words = ["reduce", path, "x", "--by", "labels/region", "--ops", "count,sum"]
        outcome = support.run(*words, "--slab", "16K", "--json", "-", ranks=ranks)
        true = true_sums(values, np.broadcast_to(texts, shape))
        assert labelled_sums(outcome) == true and list(labelled_sums(outcome)) == list(true)
        out = path.with_name("out.h5")
        support.run(*words, "-o", f"{out}:x", "--force", ranks=ranks)
        with h5py.File(out) as file:
            assert file["region"].asstr()[...].tolist() == list(true)
            assert [fractions.Fraction(each) for each in file["x_sum"][...].tolist()] == [
                total for _, total in true.values()
            ]
            assert file["x_sum"].dims[0][0].name == "/region"


def test_texts_in_the_other_reports(path):
    values, texts = write(path, (500,), "variable")
    true = true_sums(values, texts)
    words = ["reduce", path, "x", "--by", "labels/region", "--ops", "count"]
    lines = support.run(*words).stdout.splitlines()
    assert [line.rsplit(maxsplit=1) for line in lines[-len(true) :]] == [
        [text, str(count)] for text, (count, _) in true.items()
    ]
    rows = list(csv.DictReader(support.run(*words, "--csv", "-").stdout.splitlines()))
    assert {row["statistic"]: int(row["value"]) for row in rows} == {
        f"count[{text}]": count for text, (count, _) in true.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_selections_take_the_same_of_texts(path, kind):
    values, texts = write(path, (8, 9, 10), kind)
    outcome = support.run("reduce", path, "x", "--by", "labels/region", "--ops", "count,sum",
                          "--select", "1::3, -1, 2:9:2", "--json", "-", ranks=2)  # fmt: skip
    assert labelled_sums(outcome) == true_sums(values[1::3, -1, 2:9:2], texts[1::3, -1, 2:9:2])


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_groups_of_texts_along_an_axis(path, kind, ranks):
    values, texts = write(path, (40, 5, 6), kind, {}, (40,))
    out = path.with_name("out.h5")
    support.run("reduce", path, "x", "--axis", 0, "--by", "labels/region", "-o", out, ranks=ranks)
    there = sorted(set(texts) - {""}, key=str.encode)
    with h5py.File(out) as file:
        assert file["region"].asstr()[...].tolist() == there
        expected = [values[texts == each].sum(0) for each in there]
        assert np.array_equal(file["x"][...], expected)


def test_groups_of_texts_of_several_files(folder):
    parts = [write(folder / f"{i}.h5", (9 + i, 3), "variable", {}, (9 + i,)) for i in range(3)]
    out = folder / "out.h5"
    support.run("reduce", *(folder / f"{i}.h5" for i in range(3)), "x", "--concat", 0, "--axis", 0,
                "--by", "labels/region", "-o", out, "--ops", "max")  # fmt: skip
    values, texts = (np.concatenate(each) for each in zip(*parts))
    there = sorted(set(texts) - {""}, key=str.encode)
    with h5py.File(out) as file:
        assert file["region"].asstr()[...].tolist() == there
        assert np.array_equal(file["x"][...], [values[texts == each].max(0) for each in there])


def test_texts_with_a_fill_value_that_all_files_have(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    values = np.arange(24.0).reshape(2, 4, 3)
    names = np.array(["wet", "dry", "wet"], object)
    for k, part in enumerate(values):
        with netcdf.Dataset(tmp_path / f"{k}.nc", "w") as file:
            file.createDimension("time", None)
            file.createDimension("point", 3)
            file.createVariable("soil", str, ("point",))[:] = names
            file.createVariable("x", "f8", ("time", "point"))[:] = part
    words = ("reduce", tmp_path / "0.nc", tmp_path / "1.nc", "x", "--concat", "time", "--by", "soil")
    true = {each: values[..., names == each].sum() for each in ("dry", "wet")}
    reported = support.run(*words, "--ops", "sum", "--json", "-").results
    assert {each["label"]: each["sum"] for each in reported} == true
    support.run(*words, "--axis", "point,time", "-o", tmp_path / "out.nc")
    with h5py.File(tmp_path / "out.nc") as file:
        assert file["x"][...].tolist() == list(true.values())


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("kind", ["fixed", "variable"])
def test_texts_that_share_a_coordinate(tmp_path, kind, ranks):
    values = np.arange(12.0).reshape(4, 3)
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["x"] = values
        add_texts(file, "text", ["wet", "dry", "wet", "sea"], kind)
        file["time"] = np.arange(4.0)
        file["time"].make_scale("time")
        file["x"].dims[0].attach_scale(file["time"])
        file["text"].dims[0].attach_scale(file["time"])
    words = ("--axis", "time", "--by", "text", "-o", tmp_path / "out.h5")
    support.run("reduce", tmp_path / "in.h5", "x", *words, ranks=ranks)
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["x"][()].tolist() == [values[each].sum(0).tolist() for each in ([1], [3], [0, 2])]


def test_texts_that_do_not_fit_are_refused(path):
    words = ["reduce", path, "x", "--by", "labels/region"]
    write(path, (8, 9), "variable", {}, (7,))
    support.fail(*words, code=2, mentions=["labels/region", "does not fit", "(7)"], ranks=2)
    write(path, (8, 9), "variable", {}, (8,))
    out = path.with_name("out.h5")
    support.fail(*words, "--axis", 1, "-o", out, code=2, mentions=["8 elements", "9 indices"])
    write(path, (8, 9), "variable")
    support.fail(*words, "--axis", 0, "-o", out, code=2, mentions=["2 dimensions, not one"])


def test_texts_that_change_meanwhile(folder, path, fault):
    write(path, (100_000,), "fixed")
    beside = path.rename(folder / "beside.h5")
    write(path, (100_000,), "fixed")
    prefix = fault("pread", "in.h5", "modify 100")
    support.fail("reduce", path, "x", "--by", f"{beside}::labels/region", code=1, prefix=prefix,
                 mentions=["changed while it was read"])  # fmt: skip
    prefix = fault("pread", "beside.h5", "modify 100", byte=0)
    for words in ([], ["--axis", 0, "-o", folder / "out.h5"]):
        support.fail(
            "reduce", path, "x", "--by", f"{beside}::labels/region", *words, code=1,
            prefix=prefix, mentions=["labels/region", beside, "changed while"],
        )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_padding_is_no_part_of_labels(tmp_path, kind):
    values = np.arange(6.0)
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["values"] = values
        add_texts(file, "labels", ["a", "a  ", " b", " b ", "   ", ""], kind)
    results = [{"label": " b", "sum": 5.0}, {"label": "a", "sum": 1.0}]
    found = support.reduce(tmp_path / "in.h5", "values", "--by", "labels", ops="sum")
    assert found.results == results
    note = "2 of 6 labels in 'labels' are empty texts: their elements are skipped."
    assert found.report["notes"] == [note]
    out = tmp_path / "out.h5"
    found = support.reduce(tmp_path / "in.h5", "values", "--by", "labels", "--axis", 0, "-o", out,
                           ops="sum")  # fmt: skip
    assert found.report["notes"] == [note]
    with h5py.File(out) as file:
        assert file["values"][()].tolist() == [5.0, 1.0]


def test_chunked_texts_of_as_many_dimensions_as_hdf5_has(tmp_path):
    path = tmp_path / "in.h5"
    shape = (1,) * 30 + (2, 2)
    with h5py.File(path, "w") as file:
        file["values"] = np.array([1, 2, 4, 8]).reshape(shape)
        texts = np.array([b"aa", b"b", b"aa", b"aa"]).reshape(shape)
        file.create_dataset("label", data=texts, chunks=(1,) * 32)
    words = ("reduce", path, "values", "--by", f"{path}::label", "--ops", "sum", "--json", "-")
    sums = {each["label"]: each["sum"] for each in support.run(*words).results}
    assert sums == {"aa": 13, "b": 2}


@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("more", [[], ["--weights", "lat"], ["--select", "1:5:2"], ["--axis", "0,1"]])
def test_labels_of_joined_files_follow_one_another(folder, texts, more):
    names, values, paths = "abaabc", np.arange(18.0).reshape(6, 3), []
    for number, rows in enumerate((slice(3), slice(3, 6))):
        paths.append(folder / f"{number}.h5")
        with h5py.File(paths[-1], "w") as file:
            labels = list(names[rows])
            file["v"] = values[rows]
            file["label"] = np.array(labels, "S1") if texts else [ord(each) for each in labels]
            file["time"], file["lat"] = np.arange(6.0)[rows], [0.0, 1, 2]
            for dimension, name in enumerate(("time", "lat")):
                file[name].make_scale(name)
                file["v"].dims[dimension].attach_scale(file[name])
            file["label"].dims[0].attach_scale(file["time"])
    operation = "mean" if "--weights" in more else "sum"
    report = support.run("reduce", *paths, "v", "--concat", "time", "--by", "label", "--ops",
                         operation, "--json", "-", *more, ranks=2).report  # fmt: skip
    kept = range(1, 5, 2) if "--select" in more else range(6)
    weights = np.array([0, 1, 2]) if "--weights" in more else np.ones(3)
    expected = []
    for label in sorted({names[i] for i in kept}):
        weighted = values[[i for i in kept if names[i] == label]] * weights
        total = weighted.sum()
        expected.append(total / (weighted.shape[0] * 3) if operation == "mean" else total)
    if "--axis" in more:
        assert report["results"]["datasets"]["sum"]["values"] == expected
    else:
        assert [each[operation] for each in report["results"]] == expected


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("ranks", [None, 3])
def test_a_character_for_each_element(path, named, ranks):
    """Quality flags as ARGO has them are no texts along the levels."""
    values = np.random.default_rng(7).integers(-99, 99, (6, 5)) / 8
    flags = np.random.default_rng(8).choice(np.array([b"1", b"4", b" "], "S1"), (6, 5))
    names = np.array([list("buoy"), list("ship")] * 3, "S1")
    with h5py.File(path, "w") as file:
        file["x"], file["flags"], file["names"] = values, flags, names
        if named:
            for name, extent in (("profile", 6), ("level", 5), ("length", 4)):
                file[name] = np.arange(extent)
                file[name].make_scale(name)
            for name, dimensions in (("x", ("profile", "level")), ("flags", ("profile", "level")),
                                     ("names", ("profile", "length"))):  # fmt: skip
                for d, dimension in enumerate(dimensions):
                    file[name].dims[d].attach_scale(file[dimension])
    texts = np.char.strip(flags.astype("U1")).astype(object)
    words = ("reduce", path, "x", "--ops", "count,sum", "--json", "-", "--by")
    assert labelled_sums(support.run(*words, "flags", ranks=ranks)) == true_sums(values, texts)
    per_profile = np.repeat(np.array(["buoy", "ship"] * 3, object)[:, None], 5, 1)
    assert labelled_sums(support.run(*words, "names", ranks=ranks)) == true_sums(values, per_profile)
    support.fail(*words, "flags", "--axis", "0,1", code=2, ranks=ranks,
                 mentions=["it has 2 dimensions", "texts of several need a reduction of one file"])  # fmt: skip


@pytest.mark.parametrize("kind", ["fixed", "variable", "flags"])
@pytest.mark.parametrize("differ", [False, True])
def test_texts_of_all_members(folder, kind, differ):
    """Texts of several dimensions apply to all files, which are compared."""
    texts = np.random.default_rng(3).choice(np.array(["a", "b"], object), (3, 4))
    values = np.arange(24).reshape(2, 3, 4)
    files = [folder / "0.nc", folder / "1.nc"]
    for path, part in zip(files, values):
        with h5py.File(path, "w") as file:
            file["x"] = part
            for name, extent in (("lat", 3), ("lon", 4)):
                file[name] = np.arange(extent)
                file[name].make_scale(name)
            there = texts.copy()
            there[2, 3] = "c" if differ and path == files[1] else "a"
            if kind == "flags":
                file["t"] = there.astype("S1")
            else:
                add_texts(file, "t", there, kind)
            for dataset in ("x", "t"):
                for d, name in enumerate(("lat", "lon")):
                    file[dataset].dims[d].attach_scale(file[name])
    texts[2, 3] = "a"
    words = ("reduce", *files, "x", "--concat", "new:member", "--by", "t", "--ops", "count,sum")
    if differ:
        support.fail(*words, code=1, mentions=["cannot take 't'", "1.nc' differs"])
    else:
        found = labelled_sums(support.run(*words, "--json", "-"))
        assert found == true_sums(values, np.broadcast_to(texts, values.shape))
