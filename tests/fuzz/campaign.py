"""Runs numbered inputs: number and seed say all of an input, so that each can be made again by itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz.commands import begin, execute, said
from fuzz.damage import damage
from fuzz.seeds import Line, Seed
from fuzz.verdict import failure
from fuzz.worker import LIMIT_BYTES, Outcome, Worker

_APART = 5
"""By how many commands a kind is ahead of the one before."""
COMMAND = "COMMAND"
"""The file in the folder of a failure that says how to see it again."""


@dataclass(frozen=True)
class Result:
    """Result of one input."""

    number: int
    kind: str
    line: Line
    outcome: Outcome
    said: str  # on stderr
    failure: str  # "": none


class Campaign:
    """Inputs made of seeds, and what became of them."""

    def __init__(self, seeds: list[Seed], start: int, folder: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        """start: of all random numbers. folder: for the files of the input that runs, and of those that failed."""
        self._seeds, self._start, self._folder = seeds, start, folder
        self._worker = Worker(self._do, limit_bytes)

    def results(self, numbers: Iterable[int]) -> Iterator[Result]:
        """Run inputs. The files of those that fail are kept."""
        try:
            for number in numbers:
                result = self._run(number)
                if result.failure:
                    result = self._once_more(result)
                yield result
        finally:
            self._worker.close()

    def kept(self, result: Result) -> Path:
        """Where the files of an input that failed are."""
        return self._folder / f"failed-{self._start}-{result.number}"

    def _of(self, number: int) -> tuple[Seed, Line]:
        """Kinds and their commands take turns, so that each command meets each kind, and soon any kind."""
        turn, place = divmod(number, len(self._seeds))
        seed = self._seeds[place]
        return seed, seed.lines[(turn + _APART * place) % len(seed.lines)]

    def _here(self, number: int) -> Path:
        return self._folder / f"input-{number}"

    def _do(self, number: int) -> int:
        """In the worker: damage the files, and run the command."""
        seed, line = self._of(number)
        random = Random(f"{self._start}/{number}")
        here = self._here(number)
        shutil.copytree(seed.folder, here)
        begin(here)
        damage(random, here / random.choice(seed.damaged))
        return execute(line)

    def _run(self, number: int) -> Result:
        seed, line = self._of(number)
        here = self._here(number)
        shutil.rmtree(here, ignore_errors=True)
        outcome = self._worker.run(number)
        text = said(here)
        result = Result(number, seed.kind, line, outcome, text, failure(line, outcome, text))
        if result.failure:
            self._keep(result)
        shutil.rmtree(here, ignore_errors=True)
        return result

    def _once_more(self, first: Result) -> Result:
        """A new process is not what those before have made of it."""
        self._worker.renew()
        again = self._run(first.number)
        self._worker.renew()
        return again if again.failure else first

    def _keep(self, result: Result) -> None:
        place = self.kept(result)
        shutil.rmtree(place, ignore_errors=True)
        shutil.move(self._here(result.number), place)
        rows = "\n".join(f"# {row}" for row in result.said.splitlines()[-40:])
        took = f"# {result.failure} after {result.outcome.seconds:.2f} s"
        (place / COMMAND).write_text(f"cd {place}\n{' '.join(result.line)}\n{took}\n{rows}\n")
