"""A program in files, so that several processes replay one translation of a trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analyzer.errors import TracelibError
from analyzer.program.program import LeftOut, Program
from analyzer.program.storage import PackedOperations, packed

_SMALL = ("offsets", "rank", "thread", "slots", "factors")
_OPTIONAL = ("priority", "shared_slots")


def save_program(program: Program, folder: Path) -> None:
    """Write a program into a folder. Raises TracelibError where it cannot be written."""
    members = np.array([m for group in program.communicators for m in group], np.int32)
    sizes = np.array([*map(len, program.communicators)], np.int64)
    rest = {name: getattr(program, name) for name in _SMALL} | {"members": members, "sizes": sizes}
    for name in _OPTIONAL:
        if getattr(program, name) is not None:
            rest[name] = getattr(program, name)
    ops = packed(program.ops)
    rest["left_out_names"] = np.array([row.procedure for row in program.left_out], np.str_)
    rest["left_out"] = np.array([(row.calls, row.time_ns) for row in program.left_out], np.int64).reshape(-1, 2)
    numbers = np.array([program.ranks, program.buffered, ops.virtual_threads, ops.places], np.int64)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / "rest.npz", numbers=numbers, name=np.array(program.name), blocks=ops.blocks, **rest)
        with (folder / "ops.bin").open("wb") as file:
            for part in ops.parts():
                file.write(part)
    except OSError as error:
        raise TracelibError(f"cannot write into {folder}: {error.strerror}", "make room, or set TMPDIR") from error


def load_program(folder: Path) -> Program:
    """The program in a folder; its operations stay readable when the folder is removed.

    Raises OSError where the folder cannot be seen from here.
    """
    with np.load(folder / "rest.npz") as rest:
        cuts = np.cumsum(rest["sizes"])[:-1]
        groups = np.split(rest["members"], cuts) if len(rest["sizes"]) else []
        ranks, buffered, *of_operations = rest["numbers"].tolist()
        small = {name: rest[name] for name in _SMALL}
        left_out = zip(rest["left_out_names"].tolist(), rest["left_out"].tolist(), strict=True)
        file = (folder / "ops.bin").open("rb")  # the operations need it as long as they are there
        return Program(
            ops=PackedOperations(file, rest["blocks"], int(rest["offsets"][-1]), *of_operations),
            communicators=tuple(tuple(group.tolist()) for group in groups), ranks=ranks, name=str(rest["name"]),
            buffered=buffered, left_out=tuple(LeftOut(name, *counts) for name, counts in left_out),
            **{name: rest.get(name) for name in _OPTIONAL}, **small,
        )  # fmt: skip
