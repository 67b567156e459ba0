"""Arrays that warpfold makes in GPU memory."""

from __future__ import annotations

from typing import Any


class DeviceArray:
    """Elements in the memory of a CUDA device, row-major. Other libraries take them without a copy:

    >>> cupy.from_dlpack(array), torch.from_dlpack(array), jax.dlpack.from_dlpack(array)

    Numba takes them by the CUDA array interface, which has no bfloat16. warpfold.reduce() and
    scan() take them, too. The memory is freed with the last array that uses it.
    """

    def __init__(self, elements: Any, shape: "tuple[int, ...]", dtype: str, address: int) -> None:
        self._elements = elements
        self._address = address
        self.shape = shape
        self.dtype = dtype  #: as NumPy names it, or "bfloat16"

    def __repr__(self) -> str:
        _, device = self.__dlpack_device__()
        return f"DeviceArray(shape={self.shape}, dtype='{self.dtype}', device='cuda:{device}')"

    def __dlpack__(self, **options: Any) -> Any:
        return self._elements.__dlpack__(**options)

    def __dlpack_device__(self) -> "tuple[int, int]":
        kind, device = self._elements.__dlpack_device__()
        return int(kind), int(device)

    @property
    def __cuda_array_interface__(self) -> "dict[str, Any]":
        if self.dtype == "bfloat16":
            raise AttributeError("the CUDA array interface has no bfloat16")
        from numpy import dtype

        return {
            "shape": self.shape,
            "typestr": dtype(self.dtype).str,
            "data": (self._address, False),
            "version": 3,
        }
