"""Arrays that others can take by DLPack alone, made of NumPy arrays."""

import ctypes


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# Targets of capsules, kept for good: a function can't be freed while it runs.
_made = []

_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_READ_ONLY = 1


class Exporter:
    """Elements of a NumPy array, said to be on a device. `code`: DLPack's, of the elements' kind, if
    it is another than the array's. `knows_versions`: takes max_version, and then makes capsules of
    version 1.1."""

    def __init__(self, array, device=(1, 0), code=None, knows_versions=True):
        self._array = array
        self._device = device
        self._code = _CODES[array.dtype.kind] if code is None else code
        self._knows_versions = knows_versions
        self._in_use = set()
        self.asked = []  #: keyword arguments of the calls of __dlpack__()

    @property
    def taken(self):
        """How many capsules' memory is in use."""
        return len(self._in_use)

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, **options):
        if "max_version" in options and not self._knows_versions:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.asked.append(options)
        is_versioned = (options.get("max_version") or (0, 0))[0] >= 1
        if not is_versioned and not self._array.flags.writeable:
            raise BufferError("read-only")
        managed = _Versioned(major=1, minor=1) if is_versioned else _Managed()
        if is_versioned and not self._array.flags.writeable:
            managed.flags = _READ_ONLY
        self._fill(managed.tensor)
        address = ctypes.addressof(managed)
        managed.deleter = _Deleter(self._in_use.remove)
        self._in_use.add(address)
        _made.append(managed)
        return _new_capsule(address, b"dltensor_versioned" if is_versioned else b"dltensor", None)

    def _fill(self, tensor):
        array = self._array
        extents = ctypes.c_int64 * max(array.ndim, 1)
        tensor.data = array.ctypes.data
        tensor.device_type, tensor.device_id = self._device
        tensor.ndim = array.ndim
        tensor.code, tensor.bits, tensor.lanes = self._code, 8 * array.itemsize, 1
        tensor.shape = extents(*array.shape)
        tensor.strides = extents(*(each // array.itemsize for each in array.strides))
