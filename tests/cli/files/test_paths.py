"""Every way to a dataset's elements gives what NumPy gives, whatever HDF5 made of them."""

import itertools

import h5py
import numpy as np
import pytest

import samples
import support

RANKS_AND_THREADS = itertools.cycle([(1, 1), (2, 4), (3, 1), (1, 4)])
SHAPE = (61, 47)
FILL = -1234
PIPELINE = {"shuffle": True, "compression": "gzip", "fletcher32": True}


def integers(shape=SHAPE):
    return samples.typed("i32", shape)


def make(path, values=None, shape=SHAPE, file={}, **storage):
    """A dataset of int32 by h5py's create_dataset, all of it written unless `values` is None."""
    with h5py.File(path, "w", **file) as opened:
        created = opened.create_dataset("values", shape, "<i4", **storage)
        if values is not None:
            created[...] = values
    return values


def allocated(file, shape, maximum=None, chunks=None, early=False):
    """A dataset of int32 by h5py's low-level interface."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunks:
        properties.set_chunk(chunks)
    if early:
        properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple(shape, maximum or shape)
    return h5py.h5d.create(file.id, b"values", h5py.h5t.STD_I32LE, space, properties)


def contiguous(path):
    return make(path, integers())


def behind_a_user_block(path):
    return make(path, integers(), file={"userblock_size": 512})


def chunked_behind_a_user_block(path):
    return make(path, integers(), file={"userblock_size": 4096}, chunks=(10, 9))


def filtered_behind_a_user_block(path):
    return make(path, integers(), file={"userblock_size": 512}, chunks=(10, 9), **PIPELINE)


def never_written(path):
    make(path, file={"userblock_size": 512}, fillvalue=FILL)
    return np.full(SHAPE, FILL, "i4")


def chunks_never_written(path):
    make(path, chunks=(10, 9), fillvalue=FILL, **PIPELINE)
    return np.full(SHAPE, FILL, "i4")


def some_chunks_written(path, **storage):
    make(path, chunks=(10, 9), fillvalue=FILL, **storage)
    expected = np.full(SHAPE, FILL, "i4")
    expected[12:31, 20:] = integers()[12:31, 20:]
    with h5py.File(path, "r+") as file:
        file["values"][12:31, 20:] = expected[12:31, 20:]
    return expected


def some_filtered_chunks_written(path):
    return some_chunks_written(path, **PIPELINE)


def chunks_of_one_element(path):
    return make(path, integers((13, 5)), (13, 5), chunks=(1, 1))


def filters_skipped_by_chunk(path):
    values = make(path, integers(), chunks=(10, 47), **PIPELINE)
    with h5py.File(path, "r+") as file:
        raw = np.ascontiguousarray(values[20:30])
        file["values"].id.write_direct_chunk((20, 0), raw.tobytes(), filter_mask=0b111)
        file["values"].id.write_direct_chunk((30, 0), values[30:40].tobytes(), filter_mask=0b111)
    return values


def single_chunk(path):
    return make(path, integers(), file={"libver": support.NEW_FORMAT}, chunks=SHAPE, **PIPELINE)


def implicit_index(path):
    with h5py.File(path, "w", libver=support.NEW_FORMAT) as file:
        allocated(file, SHAPE, chunks=(10, 9), early=True)
        file["values"][...] = integers()
    return integers()


def fixed_array(path):
    return make(path, integers(), file={"libver": support.NEW_FORMAT}, chunks=(10, 9))


def extensible_array(path):
    return make(
        path, integers(), file={"libver": support.NEW_FORMAT}, chunks=(10, 9), maxshape=(None, 47), **PIPELINE
    )


def b_tree_of_version_2(path):
    return make(
        path, integers(), file={"libver": support.NEW_FORMAT}, chunks=(10, 9), maxshape=(None, None)
    )


def shrunk(path):
    values = make(path, integers(), chunks=(10, 9), maxshape=(None, None), **PIPELINE)
    with h5py.File(path, "r+") as file:
        file["values"].resize((33, 20))
    return values[:33, :20]


def compact(path):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.COMPACT)
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple(SHAPE)
        h5py.h5d.create(file.id, b"values", h5py.h5t.STD_I32LE, space, properties)
        file["values"][...] = integers()
    return integers()


def external(path):
    integers().tofile(path.parent / "raw")
    make(path, external=[(str(path.parent / "raw"), 0, h5py.h5f.UNLIMITED)])
    return integers()


def virtual(path):
    source = path.parent / "source.h5"
    values = make(source, integers(), chunks=(10, 9), **PIPELINE)
    layout = h5py.VirtualLayout(SHAPE, "<i4")
    layout[...] = h5py.VirtualSource(str(source), "values", SHAPE)
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("values", layout)
    return values


def virtual_of_parts(path):
    source = path.parent / "source.h5"
    values = make(source, integers(), chunks=(10, 9), **PIPELINE)[3:30]
    layout = h5py.VirtualLayout(values.shape, "<i4")
    layout[...] = h5py.VirtualSource(str(source), "values", SHAPE)[3:30]
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("values", layout)
    return values


def scaled(path):
    return make(path, integers() % 1000, chunks=(10, 9), scaleoffset=0)


def narrow(path):
    values = integers() % 1000
    narrow_type = h5py.h5t.STD_I32LE.copy()
    narrow_type.set_precision(12)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((10, 9))
    if h5py.version.hdf5_version_tuple >= (2, 0, 0):
        pytest.skip("this h5py's HDF5 does not open its own integers narrower than their bytes")
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple(SHAPE)
        created = h5py.h5d.create(file.id, b"values", narrow_type, space, properties)
        created.write(h5py.h5s.ALL, h5py.h5s.ALL, values.astype("<i4"), h5py.h5t.STD_I32LE)
    return values


def narrow_filtered(path):
    values = integers() % 1000 - 500
    narrow_type = h5py.h5t.STD_I32BE.copy()
    narrow_type.set_precision(12)
    narrow_type.set_offset(9)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((10, 9))
    properties.set_fill_value(np.array(-3, "<i4"))
    properties.set_filter(h5py.h5z.FILTER_NBIT)
    properties.set_shuffle()
    if h5py.version.hdf5_version_tuple >= (2, 0, 0):
        pytest.skip("this h5py's HDF5 does not open its own integers narrower than their bytes")
    values[:10, :9] = -3
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple(SHAPE)
        created = h5py.h5d.create(file.id, b"values", narrow_type, space, properties)
        for rows in (slice(0, 10), slice(10, None)):
            columns = slice(9 if rows.start == 0 else 0, None)
            space.select_hyperslab(
                (rows.start, columns.start), values[rows, columns].shape
            )
            part = np.ascontiguousarray(values[rows, columns], "<i4")
            created.write(h5py.h5s.create_simple(part.shape), space, part, h5py.h5t.STD_I32LE)
    return values


def scalar(path):
    return make(path, np.int32(42), ())


DIRECT = [
    contiguous,
    behind_a_user_block,
    chunked_behind_a_user_block,
    some_chunks_written,
    chunks_of_one_element,
    implicit_index,
    fixed_array,
    b_tree_of_version_2,
    scalar,
]
CHUNK = [
    filtered_behind_a_user_block,
    chunks_never_written,
    some_filtered_chunks_written,
    filters_skipped_by_chunk,
    single_chunk,
    extensible_array,
    shrunk,
    virtual,
    scaled,
    narrow_filtered,
]
LIBRARY = [never_written, compact, external, virtual_of_parts, narrow]
CASES = [
    pytest.param(make_input, path, id=make_input.__name__)
    for path, inputs in {"direct": DIRECT, "chunk": CHUNK, "library": LIBRARY}.items()
    for make_input in inputs
]


def assert_numpys_results(path, values, read_path):
    ranks, threads = next(RANKS_AND_THREADS)
    options = ["--read-path", read_path, "--threads", threads, "--slab", "4K"]
    results = support.reduce(
        path, "values", *options, ops="sum,min,max,argmax", ranks=ranks
    ).results
    wide = np.asarray(values, "i8").ravel()
    assert results == {
        "sum": int(wide.sum()),
        "min": int(wide.min()),
        "max": int(wide.max()),
        "argmax": int(wide.argmax()),
    }
    output = path.parent / "scanned.h5"
    support.scan(path, output, "values", *options, ranks=ranks)
    assert np.array_equal(support.read(output, "i64").ravel(), np.cumsum(wide))


@pytest.mark.parametrize("make_input, quickest", CASES)
def test_every_path_gives_what_numpy_gives(folder, make_input, quickest):
    path = folder / "in.h5"
    values = make_input(path)
    report = support.run("info", path, "values", "--json", "-").report
    assert report["results"]["read_path"] == quickest
    for read_path in {quickest, "library"}:
        assert_numpys_results(path, values, read_path)


@pytest.mark.parametrize("make_input, quickest", CASES)
def test_paths_that_are_not_open_are_refused(folder, make_input, quickest):
    make_input(folder / "in.h5")
    for read_path in {"direct", "chunk"} - {quickest}:
        support.fail(
            "reduce", folder / "in.h5", "values", "--read-path", read_path, code=2,
            mentions=["values", read_path],
        )  # fmt: skip


@pytest.mark.parametrize("name", ["bf16", "f16", "bool", "enum", "f64"])
@pytest.mark.parametrize("order", ["little", "big"])
def test_shuffled_elements_of_every_kind_are_distinguished(folder, name, order):
    values = samples.typed(name, SHAPE)
    path = folder / "in.h5"
    support.write(path, values, name, order=order, chunks=(10, 9), compression="gzip", shuffle=True)
    contiguous_path = support.write(folder / "contiguous.h5", values, name, order=order)
    expected = support.reduce(contiguous_path, "values", "--read-path", "library").result_bytes
    for read_path in ("chunk", "library"):
        ranks, threads = next(RANKS_AND_THREADS)
        found = support.reduce(
            path, "values", "--read-path", read_path, "--threads", threads, ranks=ranks
        )
        assert found.result_bytes == expected
