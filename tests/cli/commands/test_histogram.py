"""`histogram` beside NumPy's for the same edges, and beside fractions where NumPy rounds."""

import bisect
import csv
import fractions
import io
import itertools
import json

import h5py
import numpy as np
import pytest

import reference
import samples
import support

COUNT = 20_011
LAYOUTS = itertools.cycle(
    [{}, {"chunks": (777,)}, {"chunks": (1000,), "compression": "gzip", "shuffle": True}]
)
RANKS = itertools.cycle([None, 2, 3])


def histogram(path, *arguments, dataset="values", **options):
    words = ("histogram", path, dataset, "--json", "-", *arguments)
    found = support.run(*words, **options).report["results"]
    return {key: value if key == "edges" else np.array(value) for key, value in found.items()}


def rounded(edges, name):
    """In the elements' type, where that has fewer bits than a double."""
    if name not in ("f16", "bf16", "f32"):
        return edges
    return np.array([reference.rounded_units(name, each) for each in reference.in_units(edges)])


def expect(found, edges, values):
    """Counts of doubles as numpy.histogram() gives them."""
    counted = values[~np.isnan(values)]
    assert np.array_equal(found["edges"], edges)
    assert np.array_equal(found["counts"], np.histogram(counted, bins=edges)[0])
    assert found["below"] == (counted < edges[0]).sum()
    assert found["above"] == (counted > edges[-1]).sum()
    assert found["nan_count"] == np.isnan(values).sum()


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("name", samples.GENERATED_TYPES)
def test_counts_are_numpys(folder, name, order):
    values = samples.typed(name, COUNT)
    path = support.write(folder / "in.h5", values, name, order=order, **next(LAYOUTS))
    wide = reference.to_double(name, values)
    edges = rounded(np.linspace(wide.min(), wide.max(), 38), name)
    ranks = next(RANKS)
    expect(histogram(path, "--bins", 37, "--slab", "4K", ranks=ranks), edges, wide)
    least, greatest = np.quantile(wide, [0.1, 0.8])
    edges = rounded(np.linspace(least, greatest, 1001), name)
    range_words = ("--range", f"{float(least)!r},{float(greatest)!r}")
    expect(histogram(path, "--bins", 1000, *range_words), edges, wide)


def test_results_do_not_depend_on_ranks_or_slabs(folder):
    path = support.write(folder / "in.h5", samples.typed("f32", COUNT), "f32", chunks=(900,))
    counts = [histogram(path, "--slab", slab, ranks=ranks)["counts"].tolist()
              for slab, ranks in (("4K", None), ("1M", 2), ("8K", 3))]  # fmt: skip
    assert counts[0] == counts[1] == counts[2]


def test_explicit_edges_are_real_numbers(folder):
    random = np.random.default_rng(8)
    values = np.array([0, -0.0, 1, 2, np.nan, np.inf, -np.inf, 0.1, 1e300, -5e-324,
                       *random.standard_normal(500)])  # fmt: skip
    path = support.write(folder / "in.h5", values, "f64")
    for edges in ([0, 1, 2], [-1, 0, 0.1, 1e300], [-np.inf, 0, np.inf], [5e-324, 1]):
        text = ",".join(repr(float(edge)) for edge in edges)
        found = histogram(path, "--bins=" + text)
        expect(found, np.array(edges, "f8"), values)


@pytest.mark.parametrize("name", ["f16", "f32"])
def test_edges_of_equal_width_have_numpys_type(folder, name):
    values = np.round(np.random.default_rng(2).random(4000), 2).astype(support.NUMPY_TYPES[name])
    path = support.write(folder / "in.h5", values, name)
    for bins, ends in ((10, (0, 1)), (100, (0, 1)), (7, (0.1, 0.7)), (20, (0.05, 0.95))):
        counts, edges = np.histogram(values, bins, ends)
        assert edges.dtype == values.dtype
        found = histogram(path, "--bins", bins, "--range", f"{ends[0]},{ends[1]}", ranks=2)
        assert found["edges"] == edges.astype("f8").tolist()
        assert found["counts"].tolist() == counts.tolist()


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_an_edge_is_the_number_of_a_condition(folder, name):
    near = [0.69, 0.7, 0.71, 0.1, 0.9]
    values = reference.to_bfloat16(near) if name == "bf16" else np.array(near)
    path = support.write(folder / "in.h5", values, name)
    for edges in ((0.1, 0.7), (0.7, 0.9), (0.7, 1e39)):
        (count,) = histogram(path, "--bins", f"{edges[0]},{edges[1]}")["counts"]
        words = ("--where", f">={edges[0]}", "--where", f"<={edges[1]}")
        assert count == support.reduce(path, "values", *words).results["count"]
    packed = support.write(folder / "packed.h5", np.arange(10), "i16")
    with h5py.File(packed, "a") as file:
        file["values"].attrs["scale_factor"] = np.float32(0.1)
    found = histogram(packed, "--bins", "0.1,0.3,0.7")
    edges = np.array([0.1, 0.3, 0.7], "f4")
    values = np.arange(10, dtype="f4") * np.float32(0.1)
    assert found["counts"].tolist() == np.histogram(values, edges)[0].tolist()
    assert found["edges"] == edges.astype("f8").tolist()


def test_integers_beyond_53_bits_are_compared_exactly(folder):
    near = [2**53 + step for step in range(-4, 5)] + [2**63 - 1, 2**62 + 1, 0]
    path = support.write(folder / "in.h5", near, "i64")
    edges = [0, 2.0**53, 2.0**53 + 2, 2.0**62, 2.0**63]
    found = histogram(path, "--bins", ",".join(map(repr, edges)))
    exact = [fractions.Fraction(edge) for edge in edges]
    expected = [0] * 4
    for value in near:
        expected[min(bisect.bisect_right(exact, value), 4) - 1] += 1
    assert found["counts"].tolist() == expected


def test_ranges_as_numpy_chooses_them(folder):
    path = support.write(folder / "in.h5", np.full(7, 3, "i4"), "i32")
    expect(histogram(path, "--bins", 4), np.linspace(2.5, 3.5, 5), np.full(7, 3.0))
    path = support.write(folder / "in.h5", np.zeros(0), "f64")
    expect(histogram(path, "--bins", 4), np.linspace(0, 1, 5), np.zeros(0))
    expect(histogram(path, "--bins", 2, "--range", "7,7"), np.array([6.5, 7, 7.5]), np.zeros(0))
    path = support.write(folder / "in.h5", np.array([np.nan, -1.0, 5.0]), "f32")
    expect(histogram(path), rounded(np.linspace(-1, 5, 11), "f32"), np.array([np.nan, -1.0, 5.0]))


@pytest.mark.parametrize("ranks", [None, 2])
def test_infinities_do_not_widen_the_range(folder, ranks):
    values = np.array([np.inf, 1.0, np.nan, 2.5, -np.inf, 4.0])
    path = support.write(folder / "in.h5", values, "f64")
    expect(histogram(path, "--bins", 3, ranks=ranks), np.linspace(1, 4, 4), values)
    path = support.write(folder / "in.h5", np.array([np.inf, np.nan]), "f64")
    expect(histogram(path, "--bins", 3), np.linspace(0, 1, 4), np.array([np.inf, np.nan]))


def test_reports(folder):
    path = support.write(folder / "in.h5", [0, 1, 1, 3, 9], "u8")
    words = ("histogram", path, "values", "--bins", "0,1,4")
    assert support.run(*words).stdout.splitlines()[1:] == [
        "from  to  count",
        "0     1   1      " + "#" * 13,
        "1     4   3      " + "#" * 40,
        "below 0, above 1, NaN 0",
    ]
    rows = list(csv.DictReader(io.StringIO(support.run(*words, "--csv", "-").stdout)))
    assert [(row["what"], row["from"], row["to"], row["count"]) for row in rows] == [
        ("bin", "0", "1", "1"),
        ("bin", "1", "4", "3"),
        ("below", "", "0", "0"),
        ("above", "4", "", "1"),
        ("nan", "", "", "0"),
    ]
    report = json.loads(support.run(*words, "--json", "-").stdout)
    assert report["schema"] == "warpfold.histogram/1"


@pytest.mark.parametrize(
    "options, mentions",
    [
        (["--bins", "0"], ["--bins", "1"]),
        (["--bins", "x"], ["--bins", "x"]),
        (["--bins", "1.5"], ["1 to 4194304", "edges"]),
        (["--bins", "1,"], ["comma"]),
        (["--bins", "5000000"], ["--bins", "4194304"]),
        (["--bins", "1,x"], ["--bins", "x"]),
        (["--bins", "2,1"], ["rise"]),
        (["--bins", "1,nan"], ["rise"]),
        (["--range", "1"], ["--range"]),
        (["--range", "2,1"], ["2 to 1"]),
        (["--range", "0,inf"], ["finite"]),
        (["--bins", "1,2", "--range", "0,1"], ["--range", "edges"]),
    ],
)
def test_wrong_options_are_reported(folder, options, mentions):
    path = support.write(folder / "in.h5", [1, 2], "f32")
    support.fail("histogram", path, "values", *options, code=2, mentions=mentions)


def test_wrong_options_are_reported_once(folder):
    path = support.write(folder / "in.h5", [1, 2], "f32")
    support.fail(
        "histogram", path, "values", "--range", "2,1", code=2, mentions=["2 to 1"], ranks=2
    )


def test_edges_with_spaces_signs_and_in_hexadecimal(folder):
    path = support.write(folder / "in.h5", [1, 2, 3], "f32")
    outcome = support.run("histogram", path, "values", "--bins", "+1, 0x1.8p1 ,4", "--json", "-")
    assert outcome.report["results"]["edges"] == [1, 3, 4]
    assert outcome.report["results"]["counts"] == [2, 1]


@pytest.mark.parametrize("condition, counts", [
    ("==inf", (0, 0, 3)), (">=inf", (0, 0, 3)), ("<=-inf", (0, 1, 0)), ("inf", (0, 1, 3)),
    (">0", (2, 0, 3)), ("!=inf", (3, 1, 0)), ("nan", (0, 0, 0)),
])  # fmt: skip
def test_of_conditions_that_leave_infinities(folder, condition, counts):
    values = np.array([np.inf, 1, -np.inf, 2, np.inf, -3, np.inf])
    path = support.write(folder / "in.h5", values, "f64")
    words = ["histogram", path, "values", "--where", condition, "--bins", 2, "--json", "-"]
    results = support.run(*words, ranks=2).report["results"]
    assert (sum(results["counts"]), results["below"], results["above"]) == counts


def test_of_a_view(folder):
    values = samples.typed("i16", (101, 60))
    path = support.write(folder / "in.h5", values, "i16", order="big", chunks=(20, 25))
    seen = values[10:90:3, 5:]
    seen = seen[seen > -100].astype("f8")
    words = ("histogram", path, "values", "--select", "10:90:3, 5:", "--where", ">-100")
    for ranks in (None, 3):
        report = support.run(*words, "--bins", 21, "--json", "-", ranks=ranks).report
        expect(report["results"], np.linspace(seen.min(), seen.max(), 22), seen)
        assert (report["select"], report["where"]) == ("10:90:3, 5:", [">-100"])
