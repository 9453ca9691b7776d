"""The files of a translation: read one source, write two."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tracelib.call import fortran, translate
from tracelib.call.fortran import FIXED, FREE
from tracelib.errors import TracelibError

SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".C")
FORTRAN = (*FREE, *FIXED)


@dataclass(frozen=True)
class WrittenProgram:
    """The file that was written, and the environment that a run of it needs."""

    path: Path
    experiments: tuple[str, ...]
    environment: dict[str, str]
    advice: tuple[str, ...] = ()


def translate_file(name: str, output: str | None, force: bool) -> WrittenProgram:
    """Write SRC.cll.c and SRC.cll.h (section 2.1.1), or OUT.c and OUT.h, both or none; of Fortran the source alone.
    Raises TracelibError."""
    path = Path(name)
    if path.suffix not in (*SUFFIXES, *FORTRAN):
        known = ", ".join((*SUFFIXES, *FORTRAN))
        raise TracelibError(f"{name} is no C, C++ or Fortran source", f"its name ends with {known}")
    target = Path(output) if output else path.with_name(f"{path.stem}.cll{path.suffix}")
    if (target.suffix in FORTRAN) != (path.suffix in FORTRAN) or target.suffix not in (*SUFFIXES, *FORTRAN):
        raise TracelibError(f"{target} is no name of a source in the language of {name}", f"end it with {path.suffix}")
    header = target.with_suffix(".h")
    try:
        source = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise TracelibError(f"cannot read {name}: {error.strerror}") from error
    if path.suffix in FORTRAN:
        done = fortran.translate_fortran(source, name, fixed=path.suffix in FIXED)
        texts = {target: done.source}
    else:
        done = translate.translate(source, name, header.name)
        texts = {target: done.source, header: done.header}
    for made in texts:
        _check(made, path, force)
    _write(texts)
    return WrittenProgram(target, done.experiments, done.environment, done.advice)


def _check(path: Path, source: Path, force: bool) -> None:
    """Raise TracelibError if a file would be lost."""
    if path.exists() and path.samefile(source):
        raise TracelibError(f"{path} is the source", "choose another -o")
    if path.is_dir():
        raise TracelibError(f"{path} is a folder", "choose another -o")
    if path.exists() and not force and not _is_made(path.read_text(errors="replace")):
        raise TracelibError(f"{path} exists, and is no translation", "choose another -o, or replace it with --force")


def _is_made(text: str) -> bool:
    return translate.is_made(text) or fortran.is_made(text)


def _write(texts: dict[Path, str]) -> None:
    parts = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in texts}
    try:
        for path, text in texts.items():
            parts[path].write_bytes(text.encode("utf-8", "surrogateescape"))
        for path, part in parts.items():
            part.replace(path)
    except OSError as error:
        raise TracelibError(f"cannot write {error.filename}: {error.strerror}", "choose another -o") from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
