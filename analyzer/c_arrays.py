"""numpy arrays as C takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from analyzer._kernels import ffi as kernels


def pointer(array: np.ndarray, kind: str = "void *", ffi: Any = kernels) -> Any:
    """Return a C pointer to the data of a contiguous array, which must outlive it.

    ffi: of the library that takes the pointer, if only that knows the struct `kind`.
    """
    return ffi.cast(kind, ffi.from_buffer(array))
