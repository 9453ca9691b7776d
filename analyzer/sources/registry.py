"""Registry of trace formats: the sources of analyzer/sources, and sources that other installed packages bring.

Each package or file of analyzer/sources with a `SOURCE` is a source. Other packages have entry points of the group
`tracelib.sources`. This module imports no numpy, because `analyze --help` names the formats and must be fast.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import TracelibError
from analyzer.plugins import entry_points

if TYPE_CHECKING:
    from analyzer.parallel import Team
    from analyzer.trace import Trace
    from analyzer.trace.read_options import ReadOptions

GROUP = "tracelib.sources"
"""Group of entry points by which another package registers a source."""
HEAD_BYTES = 64
"""Number of bytes at the begin of a file that `Source.recognises` gets."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Format of trace files: how its files are named, recognised and opened.

    Attributes:
        name: Unique word.
        title: Name of the format in messages: "Paraver".
        noun: Noun phrase for a trace of this format, in messages and in --help: "a Paraver trace".
        endings: Endings of file names, the usual one first. Names of derived files do not have them.
        recognises: Returns True if a file is of this format, from its path and its first bytes. The bytes are
            HEAD_BYTES, decompressed; b"" for a folder.
        open: Returns the trace. Raises TracelibError with one clear line for a damaged file.
        example: Writes a small trace into a folder and returns the file's name. The fuzzer damages this file.
        is_own: True for runs that tracelib recorded.
        chooses_ranks: True if `open` heeds `ReadOptions.choice`.
        is_installed: True if another package brought the source. The registry sets this.
    """

    name: str
    title: str
    noun: str
    endings: tuple[str, ...]
    recognises: Callable[[Path, bytes], bool]
    open: Callable[[Path, Team, ReadOptions], Trace]
    example: Callable[[Path], str] | None = None
    is_own: bool = False
    chooses_ranks: bool = False
    is_installed: bool = False

    @property
    def text(self) -> str:
        """Noun phrase with the endings: "a Paraver trace (.prv, .prv.gz)". For own runs without endings."""
        return self.noun if self.is_own else f"{self.noun} ({', '.join(self.endings)})"


@cache
def built_in_sources() -> tuple[Source, ...]:
    """Return the sources of analyzer/sources: own runs first, then by name."""
    package = import_module("analyzer.sources")
    modules = [import_module(f"{package.__name__}.{module.name}") for module in pkgutil.iter_modules(package.__path__)]
    found = [module.SOURCE for module in modules if isinstance(getattr(module, "SOURCE", None), Source)]
    return tuple(sorted(found, key=lambda source: (not source.is_own, source.name)))


@cache
def installed_sources() -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """Load the sources of other packages.

    Returns:
        The sources, by name of the entry point. Then one line for each source that cannot be loaded.
    """
    sources, broken = [], []
    for name, point in entry_points(GROUP).items():
        try:
            source = point.load()
        except Exception as error:
            broken.append(f"the source {name} ({point.value}) cannot be loaded: {_one_line(error)}")
            continue
        if isinstance(source, Source):
            sources.append(replace(source, is_installed=True))
        else:
            broken.append(f"the source {name} ({point.value}) is no analyzer.sources.registry.Source")
    return tuple(sources), tuple(broken)


def source_of(path: Path, head: bytes) -> Source | None:
    """Return the source that recognises a file; None: no source does.

    Sources of other packages are loaded only if none of ours recognises the file.

    Args:
        path: The file or folder.
        head: First bytes of the file (HEAD_BYTES), decompressed; b"" for a folder.
    """
    for source in built_in_sources():
        if source.recognises(path, head):
            return source
    return next((source for source in installed_sources()[0] if _recognises(source, path, head)), None)


def _recognises(source: Source, path: Path, head: bytes) -> bool:
    try:
        return bool(source.recognises(path, head))
    except Exception:  # error of another package: it does not know this file
        return False


def open_by(source: Source, path: Path, team: Team, options: ReadOptions) -> Trace:
    """Open a file with a source.

    Args:
        source: Source that recognises the file.
        path: The file or folder.
        team: Processes that open the file together.
        options: Options, which the source must support.

    Raises:
        TracelibError: The file is damaged, an option is not for this format, or the source of another package fails.
    """
    if options.repair_ns is not None and not source.is_own:
        raise TracelibError(f"{path}: only runs of tracelib can be repaired", "leave out --repair-clocks")
    if options.choice and not source.chooses_ranks:
        raise TracelibError(f"{path}: {source.noun} is read as a whole", "leave out --ranks")
    if not source.is_installed:
        return source.open(path, team, options)
    try:
        return source.open(path, team, options)
    except (TracelibError, OSError, EOFError, MemoryError):
        raise
    except Exception as error:
        raise TracelibError(f"{path}: the source {source.name} cannot read it: {_one_line(error)}") from error


def formats_text(*, installed: bool = False) -> str:
    """Return the names of all formats as one phrase.

    An example is "run.h5, a folder run.ranks, a Dimemas trace (.dim, .dim.gz) or ...".

    Args:
        installed: Also name the formats of other packages; this loads the packages.
    """
    sources = (*built_in_sources(), *(installed_sources()[0] if installed else ()))
    texts = [source.text for source in sources]
    return f"{', '.join(texts[:-1])} or {texts[-1]}" if len(texts) > 1 else "".join(texts)


def expected_text() -> str:
    """Return one line for errors: the known formats, and the sources of other packages that cannot be loaded."""
    return "; ".join([f"expected {formats_text(installed=True)}", *installed_sources()[1]])


def endings(*, installed: bool = True) -> tuple[str, ...]:
    """Return the endings of the file names of all formats, each once.

    Args:
        installed: Also endings of other packages' formats; this loads the packages.
    """
    sources = (*built_in_sources(), *(installed_sources()[0] if installed else ()))
    return tuple(dict.fromkeys(ending for source in sources for ending in source.endings))


def without_ending(name: str) -> str:
    """Return a file's name without the ending of its format.

    run.h5, run.ranks and run.prv.gz all become "run".
    """
    for known in (endings(installed=False), endings()) if entry_points(GROUP) else (endings(installed=False),):
        for ending in sorted(known, key=len, reverse=True):
            if name.endswith(ending):
                return name.removesuffix(ending)
    return name.removesuffix(".gz")


def _one_line(error: Exception) -> str:
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
