"""Check of the types in our HDF5 files. Damage can make other types, which libhdf5 accepts; it then reads and writes
beyond its memory. So a reader calls this check before it reads a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import h5py
from h5py import h5t

_FLOATS = (h5t.IEEE_F64LE, h5t.IEEE_F32LE, h5t.IEEE_F64BE, h5t.IEEE_F32BE)


def is_sound(stored: h5t.TypeID) -> bool:
    """Return True if a type has texts, and numbers as processors have them. A text of any length whose kind is damaged
    would be a sequence of something: its rows are taken for other memory than they are."""
    if isinstance(stored, h5t.TypeCompoundID):
        return all(is_sound(stored.get_member_type(at)) for at in range(stored.get_nmembers()))
    if isinstance(stored, h5t.TypeFloatID):
        return any(stored == float_type for float_type in _FLOATS)
    if isinstance(stored, h5t.TypeIntegerID):
        return stored.get_size() in (1, 2, 4, 8) and stored.get_precision() == 8 * stored.get_size()
    if isinstance(stored, h5t.TypeArrayID | h5t.TypeEnumID):
        return is_sound(stored.get_super())
    return isinstance(stored, h5t.TypeStringID)


class SoundAttributes(Mapping[str, Any]):
    """The attributes of a group, as h5py gives them. Raises TypeError for one of a type that is none of ours."""

    def __init__(self, group: h5py.Group) -> None:
        self._of = group.attrs

    def __getitem__(self, name: str) -> Any:
        if not is_sound(self._of.get_id(name).get_type()):
            raise TypeError(f"attribute {name} has a type that cannot be")
        return self._of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)
