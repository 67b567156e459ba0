"""Inputs for jobs/compare_ingest.py: large datasets made in the time that writing them takes, whose
sums are known exactly and are exact in binary64 in whatever order they are added."""

import concurrent.futures
import dataclasses
import os
import shutil
import subprocess
import tempfile
import zlib

import measuring

measuring.require("h5py", "numpy")

import h5py  # noqa: E402
import numpy  # noqa: E402

BLOCK_ELEMENTS = 1 << 20
DISTINCT_BLOCKS = 16
FIELD_CHUNK = 1 << 18  # f32: 1 MiB
FIELD_ENVIRONMENT = "WARPFOLD_TOPO"


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How the elements of an input are stored."""

    dtype: str
    chunk_elements: int = 0  # 0: contiguous
    gzip_level: int = 0  # 0: no filters
    shuffle: bool = True  # with gzip
    of_field: bool = False  # the height of land and sea, otherwise random


RECIPES = {
    "f32": Recipe("<f4"),
    "f32-big": Recipe(">f4"),
    "i16-big": Recipe(">i2"),
    "f16": Recipe("<f2"),
    "gzip": Recipe("<f4", BLOCK_ELEMENTS, 4),
    "small-chunks": Recipe("<f4", 1024),
    "topo-f32": Recipe("<f4", FIELD_CHUNK, 4, of_field=True),
    "topo-i16": Recipe("<i2", 2 * FIELD_CHUNK, 4, of_field=True),
    "topo-f32-plain": Recipe("<f4", FIELD_CHUNK, 4, shuffle=False, of_field=True),
    "topo-i16-plain": Recipe("<i2", 2 * FIELD_CHUNK, 4, shuffle=False, of_field=True),
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


def topography():
    """Metres above the sea, half a degree apart, as CDO has them: of the file that the environment
    variable WARPFOLD_TOPO names, or else by CDO itself."""
    if path := os.environ.get(FIELD_ENVIRONMENT):
        with h5py.File(path) as file:
            return file["topo"][...].ravel()
    if shutil.which("cdo") is None:
        raise OSError(f"the height of land and sea takes cdo, or a file that {FIELD_ENVIRONMENT} names")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "topo.nc")
        subprocess.run(["cdo", "-s", "-f", "nc4", "topo", path], check=True, capture_output=True)
        with h5py.File(path) as file:
            return file["topo"][...].ravel()


def field_blocks(dtype):
    """The field over and over again, farther apart than gzip looks back, and sums: whole metres as
    integers, otherwise sixteenths, so that every sum is exact."""
    scale = 1 if dtype.kind == "i" else 16
    heights = numpy.rint(topography().astype("f8") * scale).astype("i8")
    for number in range(DISTINCT_BLOCKS):
        block = numpy.resize(numpy.roll(heights, -number * 4099), BLOCK_ELEMENTS)
        total = int(block.sum())
        yield (block / scale).astype(dtype), total if scale == 1 else total / scale


def make_blocks(recipe):
    """Elements that need few enough bits for every sum to be exact, and their sums."""
    if recipe.of_field:
        yield from field_blocks(numpy.dtype(recipe.dtype))
        return
    random = numpy.random.default_rng(1)
    dtype = numpy.dtype(recipe.dtype)
    bits = 15 if dtype.kind == "i" else 11 if dtype.itemsize == 2 else 16
    for _ in range(DISTINCT_BLOCKS):
        numbers = random.integers(0, 1 << bits, BLOCK_ELEMENTS)
        if dtype.kind == "i":
            yield numbers.astype(dtype), int(numbers.sum())
        else:
            yield (numbers / (1 << bits)).astype(dtype), int(numbers.sum()) / (1 << bits)


def deflated(chunk, recipe):
    """What HDF5's filters make of a chunk."""
    planes = chunk.view(numpy.uint8).reshape(chunk.size, chunk.itemsize)
    return zlib.compress((planes.T if recipe.shuffle else planes).tobytes(), recipe.gzip_level)


def fill_contiguous(path, offset, blocks, count):
    """Writes through a mapping, as many threads that write to one file wait for one another."""
    mapping = numpy.memmap(path, blocks[0].dtype, "r+", offset, (count, BLOCK_ELEMENTS))

    def write(number):
        mapping[number] = blocks[number % DISTINCT_BLOCKS]

    with concurrent.futures.ThreadPoolExecutor() as threads:
        list(threads.map(write, range(count)))


def fill_chunks(dataset, blocks, count, recipe):
    if not recipe.gzip_level:
        for number in range(count):
            first = number * BLOCK_ELEMENTS
            dataset[first : first + BLOCK_ELEMENTS] = blocks[number % DISTINCT_BLOCKS]
        return
    chunks = numpy.concatenate(blocks).reshape(-1, recipe.chunk_elements)
    with concurrent.futures.ThreadPoolExecutor() as threads:
        stored = list(threads.map(lambda chunk: deflated(chunk, recipe), chunks))
    for number in range(count * BLOCK_ELEMENTS // recipe.chunk_elements):
        first = number * recipe.chunk_elements
        dataset.id.write_direct_chunk((first,), stored[number % len(stored)])


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
        storage.update(compression="gzip", compression_opts=recipe.gzip_level,
                       shuffle=recipe.shuffle)  # fmt: skip
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
            fill_chunks(dataset, blocks, count, recipe)
        file_bytes = dataset.id.get_storage_size()
    if not recipe.chunk_elements:
        fill_contiguous(path, offset, blocks, count)
    total = sum(sums[number % DISTINCT_BLOCKS] for number in range(count))
    return Input(name, str(path), elements, file_bytes, elements * itemsize, total)
