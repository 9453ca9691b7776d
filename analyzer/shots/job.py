"""Job of one shot: a job script, the files that it needs, and what it may take.

A job script may have lines of directives as Promenvir's have (Girona 2003, section 5.6, figure 20):

    #& input beam.dat
    #& output beam.out
    #& resources memory 10.0 Mb
    #& resources temporal disk space 16.0 Mb
    #& deadline now + 1 hour
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analyzer.errors import TracelibError
from analyzer.machine.toml_table import TomlTable
from analyzer.shots import study_values
from analyzer.shots.study_values import names_in

TRIES = 3
"""Number of hosts that may lose a shot after the shot began. After that the shot counts as LOST."""
BUILT_IN = ("shot", "seed", "host")
"""Names of placeholders that every study has, in addition to its variables."""


@dataclass(frozen=True)
class JobTemplate:
    """The job of every shot, with placeholders for the values of a shot.

    Attributes:
        timeout_s: Longest time of the job in s. None: no limit.
        memory_bytes: Memory that the job needs; 0: unknown.
        disk_bytes: Disk space that the job needs; 0: unknown.
        tries: Number of hosts that may lose the shot after it began, see `TRIES`.
    """

    script: str  # text of a shell script
    where: str  # name of the script, for errors
    folder: Path  # folder of the study; names of files are relative to it
    templates: tuple[str, ...] = ()  # files with placeholders
    inputs: tuple[str, ...] = ()  # files and folders that all shots need as they are
    keep: tuple[str, ...] = ()  # files of a good shot that are kept; (): all
    timeout_s: float | None = None
    memory_bytes: float = 0.0
    disk_bytes: float = 0.0
    tries: int = TRIES

    def check(self, variables: Iterable[str]) -> None:
        """Check that all files exist, and that each variable stands in the script or a template.

        Args:
            variables: Names of the study's variables.

        Raises:
            TracelibError: A file is missing, a variable is not used, or it has the name of a built-in placeholder.
        """
        for file in (*self.templates, *self.inputs):
            if not (self.folder / file).exists():
                raise TracelibError(f"{self.folder / file}: there is no such file", "correct the name in the study")
        texts = [self.script, *(self.template(file) for file in self.templates)]
        used = set().union(*map(names_in, texts))
        for name in variables:
            if name in BUILT_IN:
                raise TracelibError(f"a variable cannot be called {name}", f"{{{{{name}}}}} has a meaning of its own")
            if name not in used:
                raise TracelibError(
                    f"{name} is drawn, but {{{{{name}}}}} stands in no template",
                    "put it into the job script or a template",
                )

    def input_files(self) -> list[Path]:
        """Return the files that all shots need unchanged. Input folders are replaced by the files in them."""
        named = [self.folder / name for name in self.inputs]
        return [path for of in named for path in (sorted(of.rglob("*")) if of.is_dir() else [of]) if path.is_file()]

    def template(self, file: str) -> str:
        """Return the text of a template. Bytes that are not UTF-8 become surrogate escapes.

        Raises:
            TracelibError: The file cannot be read.
        """
        try:
            return (self.folder / file).read_bytes().decode(errors="surrogateescape")
        except OSError as error:
            raise TracelibError(f"cannot read {self.folder / file}: {error.strerror}") from error


def read_job(table: TomlTable, folder: Path) -> JobTemplate:
    """Read the [job] table of a study file, and the directives in its script.

    Args:
        table: The [job] table.
        folder: Folder of the study file. Names of files are relative to it.

    Raises:
        TracelibError: A key, value, directive or file is not valid.
    """
    command, script = table.take("command", None), table.take("script", None)
    if (command is None) == (script is None):
        raise TracelibError("[job]: what is run?", 'give a command = "./beam beam.dat", or the name of a script')
    if script is not None:
        path = folder / study_values.text("script", script)
        try:
            text, where = path.read_bytes().decode(errors="surrogateescape"), path.name
        except OSError as error:
            raise TracelibError(f"cannot read {path}: {error.strerror}", "correct script in [job]") from error
    else:
        text, where = study_values.text("command", command), "command"
    limits: dict[str, Any] = {}
    for key, field, read in (
        ("timeout", "timeout_s", study_values.seconds),
        ("memory", "memory_bytes", study_values.size_bytes),
        ("disk", "disk_bytes", study_values.size_bytes),
    ):
        if (value := table.take(key, None)) is not None:
            limits[field] = read(key, value)
    job = JobTemplate(
        text if text.endswith("\n") else f"{text}\n", where, folder,
        templates=tuple(_plain(name) for name in study_values.texts("templates", table.take("templates", []))),
        inputs=tuple(_plain(name) for name in study_values.texts("inputs", table.take("inputs", []))),
        keep=study_values.texts("keep", table.take("keep", [])),
        tries=study_values.whole("tries", table.take("tries", TRIES), 1),
        **limits,
    )  # fmt: skip
    table.end()
    return _directed(job)


def _plain(name: str) -> str:
    """Return a name of a file below the study's folder. Raises TracelibError if the file lies elsewhere."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise TracelibError(f"{name} is not below the folder of the study", "name files from there, or use a link")
    return name


_DIRECTIVE = re.compile(r"^#&\s*(.*?)\s*$", re.MULTILINE)


def _directed(job: JobTemplate) -> JobTemplate:
    """Return the job with the directives (#&) of its script applied. Raises TracelibError for an unknown directive."""
    for found in _DIRECTIVE.finditer(job.script):
        where = f"{job.where}:{job.script.count(chr(10), 0, found.start()) + 1}"
        word, _, rest = found[1].partition(" ")
        rest = rest.strip()
        if word == "input":
            if rest not in job.templates and rest not in job.inputs and not names_in(rest):
                job = replace(job, inputs=(*job.inputs, _plain(rest)))
        elif word == "output":
            job = replace(job, keep=(*job.keep, rest))
        elif word == "resources" and rest.startswith("memory "):
            job = replace(job, memory_bytes=study_values.size_bytes(f"{where}: memory", rest.removeprefix("memory ")))
        elif word == "resources" and (size := re.fullmatch(r"(?:temporal )?disk space (.*)", rest)):
            job = replace(job, disk_bytes=study_values.size_bytes(f"{where}: disk space", size[1]))
        elif word == "deadline" and (time := re.fullmatch(r"now \+ ?(\S+) ?(\w*)", rest)):
            job = replace(job, timeout_s=study_values.seconds(f"{where}: deadline", f"{time[1]} {time[2] or 'h'}"))
        elif word not in ("promenvir", "task", "replicator"):
            raise TracelibError(f"{where}: {found[0].strip()} is not known", "see docs/analyze-study.md")
    return job
