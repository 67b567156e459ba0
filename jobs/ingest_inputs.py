"""Inputs for jobs/compare_ingest.py: large datasets made in the time that writing them takes, whose
sums are known exactly and are exact in binary64 in whatever order they are added."""

import concurrent.futures
import dataclasses
import zlib

import h5py
import numpy

BLOCK_ELEMENTS = 1 << 20
DISTINCT_BLOCKS = 16


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How the elements of an input are stored."""

    dtype: str
    chunk_elements: int = 0  # 0: contiguous
    gzip_level: int = 0  # 0: no filters; else shuffle too


RECIPES = {
    "f32": Recipe("<f4"),
    "f32-big": Recipe(">f4"),
    "i16-big": Recipe(">i2"),
    "f16": Recipe("<f2"),
    "gzip": Recipe("<f4", BLOCK_ELEMENTS, 4),
    "small-chunks": Recipe("<f4", 1024),
    "f64": Recipe("<f8"),
}


@dataclasses.dataclass(frozen=True)
class Input:
    """A file that was made."""

    name: str
    path: str
    elements: int
    file_bytes: int
    element_bytes: int
    sum: int | float

    dataset = "values"


def make_blocks(recipe):
    """Random elements that need few enough bits for every sum to be exact, and their sums."""
    random = numpy.random.default_rng(1)
    dtype = numpy.dtype(recipe.dtype)
    bits = 15 if dtype.kind == "i" else 11 if dtype.itemsize == 2 else 16
    for _ in range(DISTINCT_BLOCKS):
        numbers = random.integers(0, 1 << bits, BLOCK_ELEMENTS)
        if dtype.kind == "i":
            yield numbers.astype(dtype), int(numbers.sum())
        else:
            yield (numbers / (1 << bits)).astype(dtype), int(numbers.sum()) / (1 << bits)


def deflated(block, level):
    """What HDF5's shuffle and gzip filters make of a chunk."""
    planes = block.view(numpy.uint8).reshape(block.size, block.itemsize).T
    return zlib.compress(planes.tobytes(), level)


def fill_contiguous(path, offset, blocks, count):
    """Writes through a mapping, as many threads that write to one file wait for one another."""
    mapping = numpy.memmap(path, blocks[0].dtype, "r+", offset, (count, BLOCK_ELEMENTS))

    def write(number):
        mapping[number] = blocks[number % DISTINCT_BLOCKS]

    with concurrent.futures.ThreadPoolExecutor() as threads:
        list(threads.map(write, range(count)))


def fill_chunks(dataset, blocks, count, gzip_level):
    if gzip_level:
        with concurrent.futures.ThreadPoolExecutor() as threads:
            stored = list(threads.map(lambda block: deflated(block, gzip_level), blocks))
    for number in range(count):
        first = number * BLOCK_ELEMENTS
        if gzip_level:
            dataset.id.write_direct_chunk((first,), stored[number % DISTINCT_BLOCKS])
        else:
            dataset[first : first + BLOCK_ELEMENTS] = blocks[number % DISTINCT_BLOCKS]


def create(file, recipe, elements):
    """The empty dataset."""
    if not recipe.chunk_elements:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        dtype = h5py.h5t.py_create(numpy.dtype(recipe.dtype))
        space = h5py.h5s.create_simple((elements,))
        return h5py.Dataset(h5py.h5d.create(file.id, b"values", dtype, space, properties))
    storage = {"chunks": (recipe.chunk_elements,)}
    if recipe.gzip_level:
        storage.update(compression="gzip", compression_opts=recipe.gzip_level, shuffle=True)
    return file.create_dataset("values", (elements,), recipe.dtype, **storage)


def make(name, path, size_bytes):
    """The input called `name`, of `size_bytes` of elements rounded up to whole blocks."""
    recipe = RECIPES[name]
    itemsize = numpy.dtype(recipe.dtype).itemsize
    count = max(1, -(-size_bytes // (itemsize * BLOCK_ELEMENTS)))
    elements = count * BLOCK_ELEMENTS
    blocks, sums = zip(*make_blocks(recipe))
    with h5py.File(path, "w") as file:
        dataset = create(file, recipe, elements)
        offset = dataset.id.get_offset()
        if recipe.chunk_elements:
            fill_chunks(dataset, blocks, count, recipe.gzip_level)
        file_bytes = dataset.id.get_storage_size()
    if not recipe.chunk_elements:
        fill_contiguous(path, offset, blocks, count)
    total = sum(sums[number % DISTINCT_BLOCKS] for number in range(count))
    return Input(name, str(path), elements, file_bytes, elements * itemsize, total)
