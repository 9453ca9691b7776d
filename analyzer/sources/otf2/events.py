"""Reads the events of an OTF2 archive, which OTF2's library hands to the kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from analyzer._kernels import ffi, lib
from analyzer.c_arrays import pointer
from analyzer.otf2_library import EVENT, NAMES, functions

_AT_ONCE = 1 << 17
"""Number of events of a location that are read together."""


def pieces(reader: Any, refs: list[int]) -> Iterator[tuple[int, Iterator[tuple[np.ndarray, bool]]]]:
    """Yield the ref of each location, and an iterator over its events.

    All events of a location must be taken before the next location. The iterator yields (events, is_last): EVENT with
    times in ticks, and True for the last events of the location.

    Args:
        reader: Reader of the package otf2.
        refs: Refs of the locations.
    """
    import _otf2

    for ref in refs:
        _otf2.Reader_SelectLocation(reader.handle, ref)
    _otf2.Reader_OpenDefFiles(reader.handle)
    for ref in refs:  # clocks and numbers of this location only
        if local := _otf2.Reader_GetDefReader(reader.handle, ref):
            _otf2.Reader_ReadAllLocalDefinitions(reader.handle, local)
            _otf2.Reader_CloseDefReader(reader.handle, local)
    _otf2.Reader_CloseDefFiles(reader.handle)
    _otf2.Reader_OpenEvtFiles(reader.handle)
    callbacks = _otf2.EvtReaderCallbacks_New()
    for kind, name in NAMES.items():
        if (function := lib.archive_callback(kind)) != ffi.NULL:
            setter = functions()[f"OTF2_EvtReaderCallbacks_Set{name}Callback"]
            setter(callbacks, ctypes.c_void_p(int(ffi.cast("intptr_t", function))))
    for ref in refs:
        yield ref, _of_location(_otf2, reader.handle, callbacks, ref)
    _otf2.EvtReaderCallbacks_Delete(callbacks)
    _otf2.Reader_CloseEvtFiles(reader.handle)


def _of_location(_otf2: Any, handle: Any, callbacks: Any, ref: int) -> Iterator[tuple[np.ndarray, bool]]:
    found = ffi.gc(lib.archive_events_new(), lib.archive_events_free)
    if found == ffi.NULL:
        raise MemoryError
    local = _otf2.Reader_GetEvtReader(handle, ref)
    register = functions()["OTF2_Reader_RegisterEvtCallbacks"]
    register(handle, local, callbacks, ctypes.c_void_p(int(ffi.cast("intptr_t", found))))
    last = False
    while not last:
        last = _otf2.Reader_ReadLocalEvents(handle, local, _AT_ONCE) < _AT_ONCE
        count = lib.archive_events_count(found)
        if count < 0:
            raise MemoryError
        events = np.zeros(count, EVENT)
        lib.archive_events_take(found, pointer(events, "struct archive_event *"))
        yield events, last
    _otf2.Reader_CloseEvtReader(handle, local)
