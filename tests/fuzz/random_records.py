"""netCDF variables that lack records, as netCDF4-python reads them."""

import cftime
import netCDF4
import numpy as np

import truth
from expected import Command
from random_values import chance

TYPES = ("f4", "f8", "i2", "i4", "i8", "u2", "u4")


def _write(path, random, dtype, fill, first):
    """Writes daily records, some of which `v` lacks; `mask` has all."""
    records = int(random.integers(1, 60))
    stored = int(random.integers(0, records + 1)) if chance(random, 0.8) else records
    chunks = (int(random.integers(1, 9)), int(random.integers(1, 4)))
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-20"
        time[:] = first + np.arange(records)
        made = file.createVariable("v", dtype, ("time", "x"), chunksizes=chunks, fill_value=fill,
                                   zlib=chance(random, 0.5))  # fmt: skip
        if stored:
            values = random.integers(0, 100, (stored, 3)).astype(dtype)
            made[:stored] = np.ma.masked_equal(values, 7) if chance(random, 0.3) else values
        file.createVariable("m", "i1", ("time", "x"))[:] = random.integers(0, 2, (records, 3))
    return records


def _read(path):
    with netCDF4.Dataset(path) as file:
        masks = np.ma.getdata(file["m"][...])
        return np.ma.masked_array(file["v"][...]), masks, file["time"][...]


def _results(values, indices):
    results = truth.statistics(values, indices)
    return {each: results[each] for each in ("count", "sum", "min", "max", "argmin", "argmax")}


def _differ(found, expected):
    wrong = {key: (found[key], value) for key, value in expected.items() if found[key] != value}
    return f"found, expected: {wrong}" if wrong else None


def record_command(dataset, view, random):
    """Returns a command on one file, or on several, by times, by months, by a mask."""
    paths = [dataset.path.with_name(f"records{each}.nc") for each in range(random.integers(1, 3))]
    dtype = str(random.choice(TYPES))
    fill = None if chance(random, 0.5) else np.dtype(dtype).type(5)
    first = 0
    for path in paths:
        first += _write(path, random, dtype, fill, first)
    values, masks, times = (np.ma.concatenate(parts) for parts in zip(*map(_read, paths)))
    kept = ~np.ma.getmaskarray(values)
    data, words = np.ma.getdata(values), ["reduce", *paths, "v"]
    words += ["--concat=time"] if len(paths) > 1 else []
    kind = str(random.choice(["all", "indices", "times", "mask", "month"]))
    if kind == "indices":
        begin, end = sorted(int(each) for each in random.integers(0, len(data) + 1, 2))
        words.append(f"--select=time={begin}:{end}")
        data, kept = data[begin:end], kept[begin:end]
    elif kind == "times":
        least, most = sorted(int(each) for each in random.integers(0, len(data), 2))
        words.append(f"--select=time={least}.:{most}.")
        data, kept = data[least : most + 1], kept[least : most + 1]
    elif kind == "mask" and len(paths) == 1:
        words.append("--mask=m")
        kept = kept & (masks != 0)
    words += ["--json", "-", "--ops"]
    if kind != "month":
        places = np.flatnonzero(kept)
        expected = _results(data.ravel()[places], places)
        words.append(",".join(expected))
        return Command(words, lambda outcome: _differ(outcome.results, expected))
    output = dataset.path.with_name("out.nc")
    words += ["count", "--axis=time", "--by=month", "-o", output]
    months = np.array([each.month for each in cftime.num2date(times, "days since 2000-01-20")])
    expected = {month: kept[months == month].sum(0).tolist() for month in set(months.tolist())}

    def check(outcome):
        with netCDF4.Dataset(output) as file:
            found = dict(zip(file["month"][...].tolist(), file["v"][...].tolist()))
        return None if found == expected else f"found {found}, expected {expected}"

    return Command(words, check, output)
