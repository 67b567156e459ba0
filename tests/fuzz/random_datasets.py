"""Random datasets in every way that HDF5 stores them."""

import dataclasses
import itertools
import pathlib

import h5py
import numpy as np

import encoders
import samples
import support
from random_values import chance, values_of

MOST_ELEMENTS = 300_000
MOST_CHUNKS = 1500
MOST_DIMENSIONS = 32  # of HDF5
MOST_COMPACT_BYTES = 60_000
NAMES = ("values", "group/deep er/values", "Größe", "a:b", "a.b", "b[x]*", "c,d", "[e]")
LIBRARY_VERSIONS = ("earliest", ("earliest", "v110"), ("v108", "v110"), ("v110", "v110"))
CPU_FILTERS = ("lz4", "zstd", "bitshuffle", "bitshuffle lz4", "bitshuffle zstd")


@dataclasses.dataclass
class Dataset:
    """A dataset in a file, and what is known of it without reading the file."""

    path: pathlib.Path
    name: str  # in the file
    type: str
    values: np.ndarray  # bfloat16 as its bits
    fill: object = 0
    attributes: dict = dataclasses.field(default_factory=dict)
    notes: list = dataclasses.field(default_factory=list)  # how it was made
    library_reads: bool = True  # HDF5 has the filters without plugins
    others: list = dataclasses.field(default_factory=list)  # Datasets beside it in the file
    unreadable: list = dataclasses.field(default_factory=list)  # names of what holds no numbers

    def __str__(self):
        return f"{self.type} {self.values.shape}, {', '.join(self.notes)}"


def random_rank(random):
    if chance(random, 0.06):
        return int(random.choice([7, 8, 9, MOST_DIMENSIONS]))
    return int(random.choice([1, 2, 3, 4, 5, 6], p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.05]))


def random_shape(random):
    if chance(random, 0.04):
        return ()
    rank = random_rank(random)
    sizes = [100, 1500, 6000, 20_000, MOST_ELEMENTS]
    most = int(random.choice(sizes, p=[0.2, 0.5, 0.2, 0.09, 0.01]))
    along = max(2, int(most ** (1 / rank)))
    shape = [int(random.integers(1, 2 * along)) for _ in range(rank)]
    if chance(random, 0.1):  # few elements along dimensions but one, of about a tile of columns
        shape = [*random.integers(1, 5, rank - 1), random.integers(505, 531)]
        random.shuffle(shape)
    for place in range(rank):
        if chance(random, 0.1):
            shape[place] = 1
        elif chance(random, 0.02):
            shape[place] = 0
    while np.prod(np.maximum(shape, 1), dtype="i8") > most:  # an extent of 0 may grow
        place = int(np.argmax(shape))
        shape[place] = (shape[place] + 1) // 2
    return tuple(int(each) for each in shape)


def random_box(shape, random):
    """Slices of a part of an array, perhaps of nothing."""
    bounds = [sorted(int(each) for each in random.integers(0, extent + 1, 2)) for extent in shape]
    return tuple(slice(*each) for each in bounds)


class Writer:
    """Makes one dataset in the open file."""

    def __init__(self, file, dataset, order, random):
        self.file = file
        self.dataset = dataset
        self.order = order
        self.random = random
        self.creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        self.size = support.file_type(dataset.type, order).get_size()

    def note(self, *words):
        self.dataset.notes.append(" ".join(map(str, words)))

    def choose_fill(self):
        """HDF5 converts no fill value to bfloat16, booleans and enumerations."""
        data = self.dataset
        if data.type not in support.NUMPY_TYPES or chance(self.random, 0.5):
            return
        data.fill = values_of(data.type, (1,), self.random)[0]
        self.creation.set_fill_value(np.array(data.fill))
        self.note("fill value", data.fill)

    def create(self, shape, maximum=None):
        links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
        links.set_create_intermediate_group(True)
        space = h5py.h5s.create_simple(shape, maximum) if shape else h5py.h5s.create(
            h5py.h5s.SCALAR
        )
        return h5py.h5d.create(
            self.file.id,
            self.dataset.name.encode(),
            support.file_type(self.dataset.type, self.order),
            space,
            self.creation,
            links,
        )

    def filled(self, shape):
        return np.full(shape, self.dataset.fill, self.dataset.values.dtype)

    def write_box(self, made, box, values):
        space = made.get_space()
        if space.shape:
            extents = tuple(each.stop - each.start for each in box)
            if 0 in extents:
                return
            space.select_hyperslab(tuple(each.start for each in box), extents)
            memory = h5py.h5s.create_simple(extents)
        else:
            memory = h5py.h5s.create(h5py.h5s.SCALAR)
        array = support.memory_values(self.dataset.type, values)
        made.write(memory, space, array, support.file_type(self.dataset.type))

    def write(self, made, shape):
        """Writes all, nothing or some boxes; returns what the dataset then holds."""
        how = self.random.choice(["all", "boxes", "nothing"], p=[0.75, 0.2, 0.05])
        if how != "all":
            self.note("written:", how)
        stored = self.filled(shape)
        boxes = {"all": 1, "boxes": 3, "nothing": 0}[how]
        for _ in range(boxes):
            box = random_box(shape, self.random) if how == "boxes" else tuple(
                slice(0, extent) for extent in shape
            )
            values = values_of(self.dataset.type, stored[box].shape, self.random)
            self.write_box(made, box, values)
            stored[box] = values
        return stored


def make_contiguous(writer, shape):
    writer.note("contiguous")
    writer.choose_fill()
    if chance(writer.random, 0.3):
        writer.creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    return writer.write(writer.create(shape), shape)


def make_compact(writer, shape):
    if np.prod(shape, dtype="i8") * writer.size > MOST_COMPACT_BYTES:
        return make_contiguous(writer, shape)
    writer.note("compact")
    writer.creation.set_layout(h5py.h5d.COMPACT)
    writer.choose_fill()
    return writer.write(writer.create(shape), shape)


def make_external(writer, shape):
    if 0 in shape or not shape:
        return make_contiguous(writer, shape)
    values = values_of(writer.dataset.type, shape, writer.random)
    stored = in_file_order(writer, values)
    first = int(writer.random.integers(0, len(stored) + 1))
    begin = int(writer.random.integers(0, 20))
    for number, part in enumerate((stored[:first], stored[first:])):
        raw = writer.dataset.path.with_suffix(f".raw{number}")
        raw.write_bytes(b"\7" * begin + part)
        if part:
            writer.creation.set_external(str(raw).encode(), begin, len(part))
    writer.note("external, first part", first, "bytes")
    writer.create(shape)
    return values


def in_file_order(writer, values):
    raw = support.memory_values(writer.dataset.type, values)
    return raw.tobytes() if writer.order == "little" else raw.byteswap().tobytes()


def make_virtual(writer, shape):
    """Parts along the first dimension from sources in two files; some parts are left out."""
    if 0 in shape or not shape:
        return make_contiguous(writer, shape)
    writer.note("virtual")
    writer.choose_fill()
    stored = writer.filled(shape)
    cuts = sorted({0, shape[0], *map(int, writer.random.integers(0, shape[0], 3))})
    space = h5py.h5s.create_simple(shape)
    for number, (begin, end) in enumerate(zip(cuts, cuts[1:])):
        if chance(writer.random, 0.2):
            continue
        extents = (end - begin, *shape[1:])
        path = writer.dataset.path.with_suffix(f".source{number % 2}.h5")
        values = values_of(writer.dataset.type, extents, writer.random)
        support.write(
            path, values, writer.dataset.type, f"part{number}", order=writer.order, mode="a"
        )
        space.select_hyperslab((begin,) + (0,) * (len(shape) - 1), extents)
        writer.creation.set_virtual(
            space, path.name.encode(), f"part{number}".encode(), h5py.h5s.create_simple(extents)
        )
        stored[begin:end] = values
    writer.create(shape)
    return stored


def random_chunks(shape, random):
    """Extents of chunks and maximal ones of the dataset: HDF5 wants chunks within fixed extents."""
    chunks, maximum = [], []
    for extent in shape:
        grows = extent == 0 or chance(random, 0.15)
        most = extent + 3 if grows else extent
        chunks.append(int(random.integers(1, most + 1)) if chance(random, 0.8) else most)
        maximum.append(None if grows and chance(random, 0.7) else most)
    grid = [-(-extent // chunk) for extent, chunk in zip(shape, chunks)]
    while np.prod(grid, dtype="i8") > MOST_CHUNKS:
        place = int(np.argmax(grid))
        chunks[place] = min(2 * chunks[place], shape[place])
        grid[place] = -(-shape[place] // chunks[place])
    return tuple(chunks), tuple(maximum)


def set_filters(writer, chunks):
    """A random pipeline that HDF5 itself applies; HDF5 leaves out filters that do not shrink."""
    random, creation = writer.random, writer.creation
    kinds = ["none", "gzip", "lzf", "szip", "scaleoffset"]
    compressor = random.choice(kinds, p=[0.3, 0.4, 0.15, 0.05, 0.1])
    if compressor == "scaleoffset":
        if writer.dataset.type not in support.INTEGER_TYPES:
            compressor = "gzip"
        else:
            creation.set_scaleoffset(h5py.h5z.SO_INT, 0)
    if compressor != "scaleoffset" and chance(random, 0.5):
        creation.set_shuffle()
        writer.note("shuffle")
    if compressor == "szip" and np.prod(chunks) < 32:
        compressor = "gzip"
    if compressor == "gzip":
        creation.set_deflate(int(random.integers(0, 10)))
    elif compressor == "lzf":
        creation.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_OPTIONAL)
        writer.dataset.library_reads = False
    elif compressor == "szip":
        creation.set_szip(h5py.h5z.SZIP_NN_OPTION_MASK, 8)
    writer.note(compressor)
    if chance(random, 0.3):
        creation.set_fletcher32()
        writer.note("fletcher32")


def make_chunked(writer, shape):
    if not shape:
        return make_contiguous(writer, shape)
    random = writer.random
    chunks, maximum = random_chunks(shape, random)
    writer.note("chunks", chunks, "of at most", maximum)
    writer.creation.set_chunk(chunks)
    writer.choose_fill()
    if chance(random, 0.6):
        set_filters(writer, chunks)
    times = (h5py.h5d.ALLOC_TIME_EARLY, h5py.h5d.ALLOC_TIME_INCR, h5py.h5d.ALLOC_TIME_LATE)
    if chance(random, 0.4):
        writer.creation.set_alloc_time(times[random.integers(3)])
    made_shape = tuple(
        int(random.integers(0, extent + 4)) if most is None and chance(random, 0.5) else extent
        for extent, most in zip(shape, maximum)
    )
    unlimited = tuple(h5py.h5s.UNLIMITED if each is None else each for each in maximum)
    made = writer.create(made_shape, unlimited)
    stored = writer.write(made, made_shape)
    if made_shape != shape:
        writer.note("resized from", made_shape)
        made.set_extent(shape)
        stored = resized(writer, made, stored)
    return stored


def resized(writer, made, before):
    """The elements after a change of extents. In what is new of a chunk that was there HDF5 does
    not always have fill values: what it reads there counts."""
    after = np.empty(made.shape, before.dtype)
    if after.size:
        made.read(h5py.h5s.ALL, h5py.h5s.ALL, after, support.file_type(writer.dataset.type))
    common = tuple(slice(0, min(pair)) for pair in zip(before.shape, after.shape))
    after[common] = before[common]
    return after


def make_encoded(writer, shape):
    """Chunks stored by independent encoders; some skip their filter, some are not there."""
    if 0 in shape or not shape:
        return make_contiguous(writer, shape)
    random, data = writer.random, writer.dataset
    name = random.choice(CPU_FILTERS)
    number, parameters, encode = encoders.FILTERS[name]
    chunks, _ = random_chunks(shape, random)
    chunks = tuple(min(pair) for pair in zip(chunks, shape))
    writer.creation.set_chunk(chunks)
    data.library_reads = False
    writer.creation.set_filter(number, encoders.OPTIONAL, parameters(writer.size))
    writer.choose_fill()
    writer.note("chunks", chunks, name, "by another encoder")
    made = writer.create(shape)
    stored = writer.filled(shape)
    grid = [range(0, extent, chunk) for extent, chunk in zip(shape, chunks)]
    for corner in itertools.product(*grid):
        if chance(random, 0.05):
            continue
        values = values_of(data.type, chunks, random)
        raw = in_file_order(writer, values)
        skipped = chance(random, 0.2)
        made.write_direct_chunk(
            corner, raw if skipped else encode(raw, writer.size), int(skipped)
        )
        place = tuple(slice(at, min(at + chunk, extent))
                      for at, chunk, extent in zip(corner, chunks, shape))  # fmt: skip
        inside = tuple(slice(0, each.stop - each.start) for each in place)
        stored[place] = values[inside]
    return stored


LAYOUTS = {
    make_chunked: 0.5,
    make_contiguous: 0.2,
    make_encoded: 0.1,
    make_compact: 0.05,
    make_external: 0.05,
    make_virtual: 0.1,
}


def add_others(dataset, random):
    """Small datasets beside one, and some that no command can reduce."""
    for name in ("more/first", "more/second", "beside"):
        if chance(random, 0.5):
            kind = str(random.choice(samples.GENERATED_TYPES))
            values = values_of(kind, random_shape(random), random)
            support.write(dataset.path, values, kind, name, mode="a")
            dataset.others.append(Dataset(dataset.path, name, kind, values))
    with h5py.File(dataset.path, "a") as file:
        for name, value in (("more/strings", "text"), ("z", np.void(b"opaque"))):
            if chance(random, 0.5):
                file[name] = value
                dataset.unreadable.append(name)


def make_dataset(path, random, attributes=()):
    """A random dataset in a new file; `attributes` are functions (dataset, random) that give
    attributes to attach."""
    name = str(random.choice(samples.GENERATED_TYPES))
    order = str(random.choice(["little", "big"]))
    user_block = int(random.choice([0, 512, 4096], p=[0.8, 0.1, 0.1]))
    version = LIBRARY_VERSIONS[random.integers(len(LIBRARY_VERSIONS))]
    empty = support.memory_values(name, np.zeros(0))
    dataset = Dataset(path, str(random.choice(NAMES)), name, empty)
    dataset.notes += [f"{order}-endian", f"user block {user_block}", f"libver {version}"]
    layouts = list(LAYOUTS)
    layout = layouts[random.choice(len(layouts), p=list(LAYOUTS.values()))]
    with h5py.File(path, "w", userblock_size=user_block, libver=version) as file:
        writer = Writer(file, dataset, order, random)
        dataset.values = layout(writer, random_shape(random))
        for attribute in attributes:
            dataset.attributes.update(attribute(dataset, random))
        file[dataset.name].attrs.update(dataset.attributes)
    if chance(random, 0.3):
        add_others(dataset, random)
    return dataset
