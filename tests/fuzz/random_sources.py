"""The same elements in other places: parts of them in several files, or members of a table."""

import h5py
import numpy as np

import support
from random_values import chance


def _cuts(extent, random):
    """Where parts of an extent begin and end; none is empty."""
    most = min(extent, 4)
    inner = random.choice(np.arange(1, extent), int(random.integers(0, most)), replace=False)
    return [0, *sorted(map(int, inner)), extent]


def _storage(shape, random):
    if chance(random, 0.5):
        return {}
    chunks = tuple(int(random.integers(1, extent + 1)) for extent in shape)
    return {"chunks": chunks, "compression": "gzip"} if chance(random, 0.5) else {"chunks": chunks}


def in_files(dataset, random):
    """The words of --concat that give the dataset, along any dimension."""
    shape = dataset.values.shape
    along = int(random.integers(len(shape)))
    order = str(random.choice(["little", "big"]))
    cuts = _cuts(shape[along], random)
    storage = _storage(shape, random) if chance(random, 0.7) else None
    files = []
    for number, (begin, end) in enumerate(zip(cuts, cuts[1:])):
        part = dataset.values.take(range(begin, end), along)
        stored = _storage(part.shape, random) if storage is None else dict(storage)
        if "chunks" in stored:
            stored["chunks"] = tuple(map(min, stored["chunks"], part.shape))
        path = dataset.path.with_name(f"part{number}.h5")
        support.write(path, part, dataset.type, dataset.name, order, **stored)
        with h5py.File(path, "a") as file:
            file[dataset.name].attrs.update(dataset.attributes)
        files.append(path)
    number = along - len(shape) * int(chance(random, 0.3))
    return [*files, dataset.name, f"--concat={number}"]


def as_member(dataset, random):
    """The words that name a table's member, beside others of other sizes."""
    kind = support.file_type(dataset.type, str(random.choice(["little", "big"])))
    before, after = (int(each) for each in random.integers(0, 4, 2))
    member = str(random.choice(["x", "e nergy"]))
    table = h5py.h5t.create(h5py.h5t.COMPOUND, before + kind.get_size() + after)
    table.insert(member.encode(), before, kind)
    if after:
        table.insert(b"flag", before + kind.get_size(), h5py.h5t.STD_U8LE)
    in_memory = support.file_type(dataset.type)
    alone = h5py.h5t.create(h5py.h5t.COMPOUND, in_memory.get_size())
    alone.insert(member.encode(), 0, in_memory)
    path = dataset.path.with_name("table.h5")
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple(dataset.values.shape)
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
