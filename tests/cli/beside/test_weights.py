"""--weights and --times: exact sums of products, beside Python's fractions."""

import math
from fractions import Fraction

import h5py
import numpy as np
import pytest

import support

SHAPE = (6, 5, 7)
NAMES = ("time", "lat", "lon")
DTYPES = ["f2", "f4", "f8", "i1", "u2", "i4", "i8", "u8", ">f4", ">i8"]
LATITUDES = [-90.0, -60.0, 0.25, 45.0, 60.0]


def values_of(dtype, seed):
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        spread = {2: 3, 4: 30, 8: 290}[kind.itemsize]
        signs = random.choice([-1.0, 1.0], SHAPE)
        with np.errstate(over="ignore"):
            return (signs * 10.0 ** random.uniform(-spread, spread / 2, SHAPE)).astype(dtype)
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, SHAPE, endpoint=True, dtype=kind.newbyteorder("="))


@pytest.fixture
def path(folder):
    return folder / "in.h5"


def write(path, values, chunks=None, compression=None, **others):
    """A dataset `x` with named dimensions and coordinates, and others beside it."""
    with h5py.File(path, "w") as file:
        stored = file.create_dataset("x", data=values, chunks=chunks, compression=compression)
        for d, name in enumerate(NAMES[-values.ndim :]):
            length = values.shape[d]
            file[name] = LATITUDES if name == "lat" else np.arange(float(length))
            file[name].make_scale(name)
            stored.dims[d].attach_scale(file[name])
        for name, data in others.items():
            file[name] = data


def exact(value):
    return Fraction(value.item() if hasattr(value, "item") else value)


def root(value):
    """The double nearest to the root of a fraction."""
    if value == 0:
        return 0.0
    shift = 2 * (1200 if value < 1 else 100)
    scaled = math.isqrt(int(value * 4**shift))
    rounded = float(Fraction(2 * scaled + 1, 2 ** (shift + 1)))
    return rounded


class Expected:
    """Sums over lists of elements and their weights; those of weight 0 don't count."""

    def __init__(self, elements, weights):
        pairs = [(x, exact(w)) for x, w in zip(elements, weights) if w != 0]
        self.count = len(pairs)
        self.weights = sum((w for _, w in pairs), Fraction(0))
        self.products = sum((exact(x) * w for x, w in pairs), Fraction(0))
        self.squares = sum((exact(x) ** 2 * w for x, w in pairs), Fraction(0))

    def results(self):
        mean = self.products / self.weights
        variance = self.squares / self.weights - mean**2
        return {"count": self.count, "sum_of_weights": float(self.weights),
                "sum": float(self.products), "mean": float(mean), "var": float(variance),
                "std": root(variance)}  # fmt: skip


def results(path, *words, **options):
    return support.run("reduce", path, "x", *words, "--json", "-", "--quiet", **options).results


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_elements(path, dtype, ranks):
    values = values_of(dtype, 1)
    weights = np.random.default_rng(2).uniform(0, 1, SHAPE)
    weights[0, 0, 0] = 0
    write(path, values.astype(dtype), area=weights)
    found = results(path, "--weights", "area", ranks=ranks)
    expected = Expected(values.ravel(), weights.ravel()).results()
    assert found == {name: expected[name] for name in ("count", "sum_of_weights", "sum", "mean")}


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_each_statistic_alone(path, dtype):
    values = values_of(dtype, 1)
    weights = np.random.default_rng(2).uniform(0, 1, SHAPE)
    write(path, values.astype(dtype), area=weights)
    expected = Expected(values.ravel(), weights.ravel()).results()
    for name in ("count", "sum_of_weights", "sum", "mean"):
        assert results(path, "--weights", "area", "--ops", name) == {name: expected[name]}


def test_weights_that_a_gpu_has_no_room_for(path):
    values = values_of("f4", 12)
    weights = np.random.default_rng(13).uniform(0, 1, SHAPE)
    write(path, values, area=weights)
    found = results(path, "--weights", "area", "--ops", "sum", "--device-memory", "1M")
    assert found == {"sum": Expected(values.ravel(), weights.ravel()).results()["sum"]}


@pytest.mark.parametrize("dtype", ["f2", "f4", "i2", "u4"])
def test_variances(path, dtype):
    values = np.random.default_rng(3).integers(-9, 99, SHAPE).astype(dtype) / dtype_scale(dtype)
    values = values.astype(dtype)
    weights = np.random.default_rng(4).uniform(0, 3, SHAPE[1:])
    write(path, values, area=weights)
    found = results(path, "--weights", "area", "--ops", "var,std,mean")
    everywhere = np.broadcast_to(weights, SHAPE)
    expected = Expected(values.ravel(), everywhere.ravel()).results()
    assert found == {name: expected[name] for name in ("var", "std", "mean")}


def dtype_scale(dtype):
    return 7 if dtype.startswith("f") else 1


@pytest.mark.parametrize("chunks, compression", [(None, None), ((1, 5, 7), None),
                                                 ((2, 2, 3), "gzip"), ((6, 5, 1), "gzip")])  # fmt: skip
@pytest.mark.parametrize("axis", ["time", "lat", "lon", "lat,lon", "time,lon", "time,lat,lon"])
def test_along_axes(path, axis, chunks, compression):
    values = values_of("f4", 5)
    weights = np.array([0.1, 0.7, 3.0, 0.25, 1e-3])
    write(path, values, chunks, compression, w=weights)
    with h5py.File(path, "a") as file:
        file["w"].dims[0].attach_scale(file["lat"])
    out = path.parent / "out.h5"
    words = ("--axis", axis, "--weights", "w", "--ops", "mean,sum,sum_of_weights,count")
    support.run("reduce", path, "x", *words, "-o", out, "--output-type", "f64", ranks=2)
    along = tuple(NAMES.index(name) for name in axis.split(","))
    kept = [d for d in range(3) if d not in along]
    everywhere = np.broadcast_to(weights[:, None], SHAPE)
    order = kept + list(along)
    lines = values.transpose(order).reshape([SHAPE[d] for d in kept] + [-1])
    line_weights = everywhere.transpose(order).reshape(lines.shape)
    with h5py.File(out) as file:
        for place in np.ndindex(lines.shape[:-1]):
            expected = Expected(lines[place], line_weights[place]).results()
            for name in ("mean", "sum", "sum_of_weights", "count"):
                assert file[f"x_{name}"][place] == expected[name], (place, name)


@pytest.mark.parametrize("chunks", [None, (3, 2, 36), (1, 5, 13)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_that_fill_no_vector(path, dtype, chunks):
    values = np.random.default_rng(6).normal(280, 20, (3, 5, 99)).astype(dtype)
    weights = np.array([0.1, 0.7, 3.0, 0.25, 1e-3])
    write(path, values, chunks, w=weights)
    with h5py.File(path, "a") as file:
        file["w"].dims[0].attach_scale(file["lat"])
    out = path.parent / "out.h5"
    words = ("--axis", "time", "--weights", "w", "--ops", "mean,sum_of_weights")
    support.run("reduce", path, "x", *words, "-o", out, "--output-type", "f64")
    with h5py.File(out) as file:
        for lat, lon in np.ndindex(values.shape[1:]):
            expected = Expected(values[:, lat, lon], 3 * [weights[lat]]).results()
            for name in ("mean", "sum_of_weights"):
                assert file[f"x_{name}"][lat, lon] == expected[name], (lat, lon, name)


def test_tiles_that_begin_and_end_with_one_weight(path):
    """Columns 0 and 511 of 600 have the same weight, those between others, too."""
    values = np.random.default_rng(7).integers(-99, 99, (4, 100, 3, 2)).astype("f8")
    weights = np.array([0.5, 1.0, 4.0])
    with h5py.File(path, "w") as file:
        file["x"], file["w"], file["lat"] = values, weights, np.arange(3.0)
        file["lat"].make_scale()
        for place in (file["x"].dims[2], file["w"].dims[0]):
            place.attach_scale(file["lat"])
    out = path.parent / "out.h5"
    support.run("reduce", path, "x", "--axis", "0", "--weights", "w", "--ops", "sum,sum_of_weights",
                "-o", out)  # fmt: skip
    with h5py.File(out) as file:
        everywhere = np.broadcast_to(weights[:, None], values.shape)
        assert (file["x_sum_of_weights"][...] == everywhere.sum(0)).all()
        assert (file["x_sum"][...] == (values * everywhere).sum(0)).all()


@pytest.mark.parametrize("lat, lon", [(2, 8), (3, 50), (30, 600)])
def test_products_whose_factors_vary_along_an_outer_dimension(path, lat, lon):
    random = np.random.default_rng(8)
    values = random.integers(-99, 99, (5, lat, lon)).astype("f4")
    factors = np.array([-3.0, 2.0, -0.5, 0.0, 7.0])
    with h5py.File(path, "w") as file:
        file["x"], file["w"] = values, factors
    out = path.parent / "out.h5"
    support.run("reduce", path, "x", "--axis", "0,2", "--times", "w@0", "--ops", "sum", "-o",
                f"{out}:sum", "--output-type", "f64")  # fmt: skip
    with h5py.File(out) as file:
        assert (file["sum"][...] == (values * factors[:, None, None]).sum((0, 2))).all()


@pytest.mark.parametrize("degrees, cosine", [(60.0, 0.5), (0.0, 1.0), (90.0, 0.0), (-60.0, 0.5),
                                             (45.0, math.sqrt(0.5))])  # fmt: skip
def test_cosines(path, degrees, cosine):
    with h5py.File(path, "w") as file:
        file["x"] = np.ones((1, 3))
        file["lat"] = [degrees]
        file["lat"].make_scale("lat")
        file["x"].dims[0].attach_scale(file["lat"])
    found = results(path, "--weights", "cos:lat", "--ops", "sum,count")
    assert found == {"sum": 3 * cosine, "count": 3 if cosine else 0}


def test_cosines_of_a_selection(path):
    values = values_of("f4", 6)
    write(path, values)
    found = results(path, "--weights", "cos:lat", "--select", "lat=1:5:2, lon=::3")
    weights = [0.5, math.sqrt(0.5)]
    part = values[:, 1:5:2, ::3]
    everywhere = np.broadcast_to(np.array(weights)[:, None], part.shape)
    expected = Expected(part.ravel(), everywhere.ravel()).results()
    assert found == {name: expected[name] for name in found}


@pytest.mark.parametrize("ranks", [None, 2])
def test_what_is_left_out_weighs_nothing(path, ranks):
    values = values_of("f4", 7)
    values[1, 2, 3] = np.nan
    weights = np.random.default_rng(8).uniform(0, 1, SHAPE)
    mask = np.random.default_rng(9).integers(0, 2, SHAPE[1:], "u1")
    write(path, values, area=weights, m=mask)
    words = ("--weights", "area", "--nan", "skip", "--where", "<1e3", "--mask", "m")
    found = results(path, *words, ranks=ranks)
    counts = np.broadcast_to(mask, SHAPE).astype(bool) & (values < 1e3)
    expected = Expected(values[counts], weights[counts]).results()
    assert found == {name: expected[name] for name in found}


def test_not_a_number_and_infinities(path):
    values = np.ones(SHAPE, "f4")
    values[0, 0, 0] = np.inf
    write(path, values, area=np.full(SHAPE, 0.5))
    found = results(path, "--weights", "area")
    assert found["sum"] == found["mean"] == math.inf
    values[0, 0, 1] = np.nan
    write(path, values, area=np.full(SHAPE, 0.5))
    found = results(path, "--weights", "area")
    assert math.isnan(found["mean"]) and found["count"] == values.size
    assert found["sum_of_weights"] == (values.size - 1) / 2


def test_tiny_and_huge_products(path):
    values = np.array([5e-324, 1e-310, 1e300, -1e300, 3e-200, 2.0])
    weights = np.array([5e-324, 0.3, 1e8, 1e8, 1e-200, 1e-320])
    write(path, values[None], area=weights)
    found = results(path, "--weights", "area")
    pairs = [(exact(x), exact(w)) for x, w in zip(values, weights)]
    products = sum(x * w for x, w in pairs)
    assert found["sum"] == float(products)
    assert found["mean"] == float(products / sum(w for _, w in pairs))


LEVELS = np.array([[0.0], [5e-324], [3e-5], [1.0], [7e150]])


@pytest.mark.parametrize("chunks", [None, (9, 5, 7)])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i4", "i8", "u8", ">f8"])
@pytest.mark.parametrize("axis", [None, "time", "time,lon", "time,lat"])
def test_elements_that_share_a_weight(path, dtype, chunks, axis):
    """Many elements of each weight, of all magnitudes; variances too."""
    shape = (60, 5, 7)
    values = np.concatenate([values_of(dtype, seed) for seed in range(10)]).reshape(shape)
    write(path, values.astype(dtype), chunks, w=LEVELS.ravel())
    with h5py.File(path, "a") as file:
        file["w"].dims[0].attach_scale(file["lat"])
    words = ("--weights", "w", "--ops", "count,sum_of_weights,sum,mean,var,std")
    everywhere = np.broadcast_to(LEVELS, shape)
    if axis is None:
        for ranks in (None, 3):
            found = results(path, *words, ranks=ranks)
            assert found == Expected(values.ravel(), everywhere.ravel()).results()
        return
    out = path.parent / "out.h5"
    support.run("reduce", path, "x", "--axis", axis, *words, "-o", out, "--output-type", "f64")
    along = tuple(NAMES.index(name) for name in axis.split(","))
    kept = [d for d in range(3) if d not in along]
    order = kept + list(along)
    lines = values.transpose(order).reshape([shape[d] for d in kept] + [-1])
    line_weights = everywhere.transpose(order).reshape(lines.shape)
    with h5py.File(out) as file:
        for place in np.ndindex(lines.shape[:-1]):
            if not line_weights[place].any():
                assert file["x_count"][place] == 0 and math.isnan(file["x_mean"][place])
                continue
            expected = Expected(lines[place], line_weights[place]).results()
            found = {name: file[f"x_{name}"][place] for name in expected}
            assert found == expected, place


def test_infinities_that_share_a_weight(path):
    """Elements of weight 0 are ignored, even NaN."""
    values = np.ones((40, 5, 7), "f4")
    values[:, 0, 0] = np.nan
    values[3, 1, 0] = -np.inf
    write(path, values, w=LEVELS.ravel())
    with h5py.File(path, "a") as file:
        file["w"].dims[0].attach_scale(file["lat"])
    found = results(path, "--weights", "w", "--ops", "sum,mean,nan_count,inf_count")
    assert found == {"sum": -math.inf, "mean": -math.inf, "nan_count": 0, "inf_count": 1}


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("dtype", ["f8", "i8", "u8"])
def test_variances_of_any_size(path, dtype, ranks):
    random = np.random.default_rng(12)
    values = np.array([5e-324, 1e-300, 1e300, -1e154, 2.0**60 + 2.0**9, 3.0])
    if dtype != "f8":
        values = random.integers(2**62, 2**63 - 1, 6, dtype=dtype)
    weights = np.array([5e-324, 1e-300, 1e-290, 1e20, 0.1, 3.0])
    write(path, values[None], area=weights)
    found = results(path, "--weights", "area", "--ops", "var,std", ranks=ranks)
    expected = Expected(values, weights).results()
    assert found == {name: expected[name] for name in ("var", "std")}


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i2"])
@pytest.mark.parametrize("ranks", [None, 3])
def test_times(path, dtype, ranks):
    values = values_of(dtype, 10)
    others = values_of("f4", 11)
    write(path, values, y=others)
    found = results(path, "--times", "y", ranks=ranks)
    products = [exact(a) * exact(b) for a, b in zip(values.ravel(), others.ravel())]
    assert found == {"count": values.size, "sum": float(sum(products)),
                     "mean": float(sum(products) / values.size)}  # fmt: skip


@pytest.mark.parametrize("integer", [-3, 2**62 + 1, -(2**62) - 1])
def test_integers_times_what_is_not_finite(path, integer):
    write(path, np.array([[integer, 5, 7]]), y=np.array([np.inf, np.nan, 2.0]))
    found = results(path, "--times", "y", "--ops", "sum,nan_count,inf_count")
    assert math.isnan(found.pop("sum")) and found == {"nan_count": 1, "inf_count": 1}
    write(path, np.array([[integer, 5, 7]]), y=np.array([np.inf, 0.0, 2.0]))
    assert results(path, "--times", "y")["sum"] == math.copysign(math.inf, integer)


def test_times_leaves_out_fill_values(path):
    values = np.arange(35, dtype="f4").reshape(5, 7)
    others = np.arange(35, dtype="i2").reshape(5, 7)
    write(path, values, y=others)
    with h5py.File(path, "a") as file:
        file["y"].attrs["_FillValue"] = np.int16(7)
    found = results(path, "--times", "y")
    assert found["count"] == 34 and found["sum"] == sum(n * n for n in range(35) if n != 7)


@pytest.mark.parametrize("words, code, mentions", [
    (("--weights", "none"), 1, ["none"]),
    (("--weights", "negative"), 1, ["negative", "0 or more"]),
    (("--weights", "short"), 2, ["does not fit"]),
    (("--weights", "cos:height"), 2, ["height"]),
    (("--weights", ""), 2, ["--weights"]),
    (("--weights", "area", "--times", "area"), 2, ["both"]),
    (("--weights", "area", "--ops", "min"), 2, ["min"]),
    (("--weights", "area", "--ops", "median"), 2, ["quantiles"]),
    (("--weights", "area", "--ops", "var", "--ddof", 1), 2, ["ddof"]),
    (("--ops", "sum_of_weights"), 2, ["weights"]),
    (("--times", "area", "--ops", "var"), 2, ["var"]),
])  # fmt: skip
@pytest.mark.parametrize("ranks", [None, 2])
def test_mistakes(path, words, code, mentions, ranks):
    write(path, np.ones(SHAPE, "f4"), area=np.ones(SHAPE), negative=-np.ones(7), short=np.ones(4))
    support.fail("reduce", path, "x", *words, code=code, mentions=mentions, ranks=ranks)


def test_a_single_number(path):
    write(path, np.ones(SHAPE, "f4"), area=np.ones(()))
    words = ("--weights", "area", "--select", "0, 0, 0")
    support.fail("reduce", path, "x", *words, code=2, mentions=["a single number"])
    assert results(path, "--weights", "area")["mean"] == 1


def test_empty(path):
    write(path, np.ones((0, 5, 7), "f4"), area=np.ones((5, 7)))
    found = results(path, "--weights", "area")
    assert found["count"] == 0 and math.isnan(found["mean"]) and found["sum"] == 0


def whole_numbers(generator, dtype, n):
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, n, dtype, endpoint=True)


@pytest.mark.parametrize("factor", ["i8", "u8"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "i2"])
def test_factors_of_64_bits_are_exact(folder, dtype, factor):
    generator = np.random.default_rng(64)
    n = 131
    if dtype[0] == "f":
        x = generator.normal(size=n).astype(dtype)
    else:
        x = whole_numbers(generator, dtype, n)
    times = whole_numbers(generator, factor, n)
    weights = times >> generator.integers(0, 60, n).astype(factor)
    weights[weights < 0] = 0
    path = folder / "factors.h5"
    with h5py.File(path, "w") as file:
        file["x"], file["t"], file["w"] = x, times, weights
    xs, ts, ws = ([Fraction(each) for each in line.tolist()] for line in (x, times, weights))
    total = sum(a * b for a, b in zip(xs, ts))
    whole = sum(ws)
    mean = sum(a * b for a, b in zip(xs, ws)) / whole
    var = sum(b * (a - mean) ** 2 for a, b in zip(xs, ws)) / whole
    found = [
        support.run("reduce", path, "x", *words, "--json", "-", ranks=ranks).results
        for words in (("--times", "t", "--ops", "sum,mean"),
                      ("--weights", "w", "--ops", "sum_of_weights,mean,var,count"))
        for ranks in (None, 3)
    ]  # fmt: skip
    assert found[0] == found[1] == {"sum": float(total), "mean": float(total / n)}
    assert found[2] == found[3] == {
        "sum_of_weights": float(whole),
        "mean": float(mean),
        "var": float(var),
        "count": int((weights != 0).sum()),
    }


def test_what_cancels_in_factors_of_64_bits(folder):
    path = folder / "cancel.h5"
    with h5py.File(path, "w") as file:
        file["x"] = [1.0, -1.0]
        file["t"] = [2**53 + 1, 2**53]
    for ranks in (None, 2):
        found = support.run("reduce", path, "x", "--times", "t", "--json", "-", ranks=ranks)
        assert found.results["sum"] == 1.0


ANGLES = [-60.0, 0.0, 45.0]


def cosines_of(folder, values, units=None, **attributes):
    path = folder / "lat.h5"
    with h5py.File(path, "w") as file:
        scale = file.create_dataset("lat", data=values)
        if units is not None:
            scale.attrs["units"] = units
        scale.attrs.update(attributes)
        scale.make_scale("lat")
        data = file.create_dataset("v", data=[1.0, 2.0, 4.0])
        data.dims[0].attach_scale(scale)
    return support.attempt(
        "reduce", path, "v", "--weights", "cos:lat", "--ops", "sum_of_weights", "--json", "-"
    )


@pytest.mark.parametrize("units", ["radian", "radians", "rad", "Radians"])
def test_latitudes_may_be_in_radians(folder, units):
    in_radians = cosines_of(folder, np.radians(ANGLES), units).results["sum_of_weights"]
    expected = math.fsum(math.cos(each) for each in np.radians(ANGLES))
    assert abs(in_radians - expected) <= math.ulp(expected)
    pole = np.radians(np.array([-90, 0, 90], "f4"), dtype="f4")
    assert abs(cosines_of(folder, pole, units).results["sum_of_weights"] - 1) < 1e-7


@pytest.mark.parametrize(
    ("values", "attributes", "words"),
    [
        (ANGLES, {"units": "m"}, "is in 'm', no units of an angle"),
        ([0.0, 95.0, 1.0], {"units": "degrees_north"}, "index 1 is 95, which is not a latitude"),
        ([0.0, 1.0, 1.7], {"units": "rad"}, "index 2 is 1.7, which is not a latitude in radians"),
        ([np.nan, 1.0, 2.0], {}, "index 0 is not a number"),
        ([0.0, 1.0, -9.0], {"_FillValue": -9.0}, "index 2 is not a number"),
    ],
)
def test_what_is_no_latitude_has_no_cosine(folder, values, attributes, words):
    outcome = cosines_of(folder, values, **attributes)
    assert outcome.code in (1, 2) and len(outcome.errors) == 1
    assert words in outcome.errors[0] and "lat" in outcome.errors[0]


@pytest.mark.parametrize("name", ["lat", "g/lat"])
def test_latitudes_of_several_dimensions(folder, name):
    """The dimension y has another name than its latitudes, or the same (`lat(lat, x)`)."""
    path, random = folder / "in.nc", np.random.default_rng(3)
    values = random.integers(-9, 9, (3, 4, 5)).astype("f8")
    latitudes = random.choice([0.0, 60.0, -60.0, 90.0, -90.0, -1e9], (4, 5))
    latitudes[0, :2] = 0.0, -1e9
    with h5py.File(path, "w") as file:
        file["v"] = values
        file[name] = latitudes
        file[name].attrs.update({"units": "degrees_north", "_FillValue": -1e9})
        file["v"].dims[1].label = name.rpartition("/")[2]
        if name == "lat":
            file["lat"].make_scale("lat")
            file["v"].dims[1].attach_scale(file["lat"])
    weights = np.select([latitudes == 0, abs(latitudes) == 60], [1.0, 0.5], 0.0)
    for cosine in (f"cos:{name}", f"cos:{path}::{name}"):
        found = support.run("reduce", path, "v", "--weights", cosine, "--ops", "sum,sum_of_weights",
                            "--json", "-").results  # fmt: skip
        assert found == {"sum": (values * weights).sum(), "sum_of_weights": 3 * weights.sum()}
