"""Random commands over several datasets of a file, and one dataset in several files or in a table."""

import fnmatch
import glob

import h5py
import numpy as np

import support
import truth
from expected import (
    Command, compare_arrays, differences, integer_type, mentions, stored_numbers,
)  # fmt: skip
from random_histograms import compare_counts, counted, random_bins
from random_values import chance
from random_views import default_view
from reference import STATISTICS

# Conditions that mean the same for every type.
CONDITIONS = {
    (): lambda values: np.ones(values.shape, bool),
    ("--where=finite",): np.isfinite,
    ("--where=>0",): lambda values: values > 0,
    ("--where=!=nan", "--where=<=7"): lambda values: values <= 7,
}


def _chosen(dataset, random):
    """Words that choose some datasets, the readable ones, and names of those that are skipped."""
    members = {each.name: each for each in (dataset, *dataset.others)}
    kind = random.choice(["all", "names", "pattern"])
    if kind == "all":
        return ["--all"], list(members.values()), list(dataset.unreadable)
    if kind == "names" or not dataset.others:
        names = random.permutation(list(members))[: random.integers(1, len(members) + 1)].tolist()
        pattern = glob.escape(dataset.name[:-1]) + "?"
        return [*names, pattern], [members[name] for name in {*names, dataset.name}], []
    pattern = str(random.choice(["more/*", "more/[fs]*", "*/*"]))
    read = [each for name, each in members.items() if _matches(name, pattern)]
    return [pattern], read, [name for name in dataset.unreadable if _matches(name, pattern)]


def _matches(name, pattern):
    """Stars stand for no slash."""
    parts, patterns = name.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatch.fnmatchcase, parts, patterns))


def _summaries(random):
    chosen = random.choice(STATISTICS, 4, replace=False).tolist()

    def compare(results, values, indices, _):
        true = truth.statistics(values, indices)
        return differences(results, {each: true[each] for each in chosen})

    return ["reduce", "--ops", ",".join(chosen)], compare


def _histograms(values, random):
    edges = None
    while edges is None:
        words, edges_of = random_bins(values, random, kinds=("edges", "range"))
        edges = edges_of(values)
    return ["histogram", *words], lambda results, values, indices, name: compare_counts(
        results, counted(values, edges, name)
    )


def _compactions(output):
    """All into one file."""

    def compare(results, values, indices, name):
        found = stored_numbers(output, results["output_dataset"], integer_type(name))
        places = support.read(output, "u64", results["indices_dataset"])
        if not np.array_equal(places, indices):
            return f"indices {places}, expected {indices}"
        return compare_arrays(found, values)

    return ["compact", "--indices", "-o", output], compare


def several_command(dataset, view, random):
    """Returns a command on whole datasets: a selection seldom suits several."""
    own = default_view(dataset).values.ravel()
    kind = random.choice(["summaries", "histograms", "compactions"], p=[0.4, 0.3, 0.3])
    output = dataset.path.with_name("out.h5") if kind == "compactions" else None
    (name, *words), compare = {
        "summaries": lambda: _summaries(random),
        "histograms": lambda: _histograms(own, random),
        "compactions": lambda: _compactions(output),
    }[kind]()
    datasets, read, skipped = _chosen(dataset, random)
    conditions = list(CONDITIONS)[random.integers(1 if output else 0, len(CONDITIONS))]

    def check(outcome):
        reports = {each["dataset"]: each for each in outcome.report["datasets"]}
        names = sorted(each["dataset"] for each in outcome.report["datasets"])
        if names != sorted([*(each.name for each in read), *skipped]):
            return f"the datasets are {names}"
        for each in skipped:
            if "skipped" not in reports[each]:
                return f"{each} is not skipped"
        for each in read:
            view = default_view(each)
            view.kept = view.kept & CONDITIONS[conditions](view.values)
            problem = compare(reports[each.name]["results"], *view.flat(), view.type)
            if problem:
                return f"{each.name}: {problem}"
        return None

    words = [name, dataset.path, *datasets, "--json", "-", *words, *conditions]
    if not read:  # what the pattern names cannot be read, or is not there
        return Command(words, mentions("no dataset of"), output, code=1)
    return Command(words, check, output)


def _cuts(extent, random):
    """Returns the begins and ends of parts of an extent; none is empty."""
    most = min(extent, 4)
    inner = random.choice(np.arange(1, extent), int(random.integers(0, most)), replace=False)
    return [0, *sorted(map(int, inner)), extent]


def _storage(shape, random):
    if not shape or chance(random, 0.5):
        return {}
    chunks = tuple(int(random.integers(1, extent + 1)) for extent in shape)
    return {"chunks": chunks, "compression": "gzip"} if chance(random, 0.5) else {"chunks": chunks}


def in_files(dataset, random):
    """The words of --concat that give the dataset, along any dimension, or a first one that the
    files lack."""
    shape = dataset.values.shape
    is_new = 0 < shape[0] <= 8 and chance(random, 0.3)
    along = 0 if is_new else int(random.integers(len(shape)))
    order = str(random.choice(["little", "big"]))
    cuts = range(shape[0] + 1) if is_new else _cuts(shape[along], random)
    storage = _storage(shape[is_new:], random) if chance(random, 0.7) else None
    attributes = dict(dataset.attributes)
    name, *others = attributes.get("DIMENSION_LABELS", ["run"])
    if is_new:
        attributes.pop("DIMENSION_LABELS", None)
    if is_new and others:
        attributes["DIMENSION_LABELS"] = others
    files = []
    for number, (begin, end) in enumerate(zip(cuts, cuts[1:])):
        part = dataset.values[begin] if is_new else dataset.values.take(range(begin, end), along)
        part = np.asarray(part)
        stored = _storage(part.shape, random) if storage is None else dict(storage)
        if "chunks" in stored:
            stored["chunks"] = tuple(map(min, stored["chunks"], part.shape))
        path = dataset.path.with_name(f"part{number}.h5")
        support.write(path, part, dataset.type, dataset.name, order, **stored)
        with h5py.File(path, "a") as file:
            file[dataset.name].attrs.update(attributes)
        files.append(path)
    if is_new:
        return [*files, dataset.name, f"--concat=new:{name}"]
    number = along - len(shape) * int(chance(random, 0.3))
    return [*files, dataset.name, f"--concat={number}"]


def as_member(dataset, random):
    """The words that name a table's member, beside others of other sizes; it may be an array."""
    kind = support.file_type(dataset.type, str(random.choice(["little", "big"])))
    in_memory = support.file_type(dataset.type)
    shape = dataset.values.shape
    rank = int(random.integers(len(shape) + 1))
    if chance(random, 0.5) and shape[rank:] and all(shape[rank:]):
        kind, in_memory = (h5py.h5t.array_create(each, shape[rank:]) for each in (kind, in_memory))
        shape = shape[:rank]
    before, after = (int(each) for each in random.integers(0, 4, 2))
    member = str(random.choice(["x", "e nergy"]))
    table = h5py.h5t.create(h5py.h5t.COMPOUND, before + kind.get_size() + after)
    table.insert(member.encode(), before, kind)
    if after:
        table.insert(b"flag", before + kind.get_size(), h5py.h5t.STD_U8LE)
    alone = h5py.h5t.create(h5py.h5t.COMPOUND, in_memory.get_size())
    alone.insert(member.encode(), 0, in_memory)
    path = dataset.path.with_name("table.h5")
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple(shape) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
        made = h5py.h5d.create(file.id, b"rows", table, space)
        values = support.memory_values(dataset.type, dataset.values)
        if values.size:
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, values, alone)
    return [path, f"rows.{member}"]


def random_source(dataset, command, random):
    """Words in place of FILE and DATASET of a command of one dataset, or None."""
    words = command.words
    alone = words[2] == dataset.name and str(words[3]).startswith("-")
    shape = dataset.values.shape
    if words[0] == "info" or command.code or not alone or not shape or not chance(random, 0.15):
        return None
    if chance(random, 0.3) and not dataset.attributes and not command.output:
        return as_member(dataset, random)
    return in_files(dataset, random) if all(shape) else None
