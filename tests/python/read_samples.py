"""Files whose datasets warpfold.read() is to read as h5py does, by what they show."""

import h5py
import numpy as np

RANDOM = np.random.default_rng(48)
TYPES = ["i1", "u1", "<i2", ">i2", "<u4", ">i4", "<i8", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8"]
FILTERS = {
    "contiguous": {},
    "chunked": {"chunks": True},
    "gzip": {"compression": "gzip"},
    "gzip_shuffle": {"compression": "gzip", "shuffle": True},
    "fletcher32": {"fletcher32": True, "compression": "gzip"},
    "lzf": {"compression": "lzf", "shuffle": True},
}
SHAPE = (23, 17, 31)
CHUNKS = (5, 4, 8)  # the last ones along each dimension are cut


def values_of(dtype, shape=SHAPE):
    """Numbers of any bits but NaN's, which are equal to nothing."""
    count = int(np.prod(shape, dtype=int))
    dtype = np.dtype(dtype)
    bits = RANDOM.integers(0, 256, (count, dtype.itemsize), dtype="u1")
    values = bits.reshape(-1).view(dtype).reshape(shape)
    return np.where(values == values, values, values.dtype.type(0)).astype(dtype)


def make_file(name):
    with h5py.File(name, "w") as file:
        for dtype in TYPES:
            values = values_of(dtype)
            for filters, options in FILTERS.items():
                if options:
                    options = {**options, "chunks": CHUNKS}
                file.create_dataset(f"{np.dtype(dtype).str}/{filters}", data=values, **options)
        some = file.create_dataset("unwritten", (40, 30), ">f4", chunks=(7, 30), fillvalue=2.5)
        some[8:12] = values_of(">f4", (4, 30))
        file["row"] = values_of("f4", (100000,))
        file["scalar"] = 2.5
        file["empty"] = np.empty((0, 3), "f4")
        points = np.zeros((9, 4), [("x", ">f8"), ("n", "u2")])
        points["x"], points["n"] = values_of(">f8", (9, 4)), values_of("u2", (9, 4))
        file.create_dataset("points", data=points, chunks=(2, 3), compression="gzip")
        layout = h5py.VirtualLayout((2, *SHAPE), "<f4")
        for i, filters in enumerate(("gzip", "contiguous")):
            layout[i] = h5py.VirtualSource(file[f"<f4/{filters}"])
        file.create_virtual_dataset("virtual", layout)
        shifted = h5py.VirtualLayout((12, 40), "<f4", maxshape=(12, 40))
        shifted[1:11, 3:20] = h5py.VirtualSource(file["<f4/gzip"])[0:10, :, 5]
        file.create_virtual_dataset("shifted", shifted, fillvalue=-1)
        make_bfloat16(file, values_of("f4", (50, 20)))


def make_bfloat16(file, values):
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(15, 7, 8, 0, 7)
    kind.set_size(2)
    kind.set_ebias(127)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((7, 20))
    properties.set_deflate(4)
    space = h5py.h5s.create_simple(values.shape)
    dataset = h5py.h5d.create(file.id, b"bfloat16", kind, space, properties)
    bits = (values.astype("<f4").view("<u4") >> 16).astype("<u2")
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, bits, kind)


def datasets_of(name):
    """The datasets whose elements are numbers."""
    names = []
    with h5py.File(name) as file:
        file.visititems(lambda path, item: names.append(path) if hasattr(item, "dtype") else None)
        return [path for path in names if file[path].dtype.names is None]


def same(read, expected):
    """Tells whether arrays have equal types, in native byte order, shapes and numbers."""
    expected = np.asarray(expected)
    return (
        read.dtype == expected.dtype.newbyteorder("=")
        and read.shape == expected.shape
        and bool(np.array_equal(read, expected))
    )
