"""Several runs on one page: each request names the run that it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.errors import TracelibError
from analyzer.report.live.answers import Answers

RUN = "run"


class Runs:
    """The answers of one run or of several, which are counted from 0."""

    def __init__(self, every: Sequence[Answers]) -> None:
        self.every = tuple(every)

    def data(self, name: str, query: Mapping[str, str]) -> Any:
        """What is sent as JSON: `runs` tells what runs there are, all else is of one of them.

        Raises KeyError of a request that there is none, TracelibError of a bad one.
        """
        if name == "runs":
            return {"runs": [one.data("about", {}) for one in self.every]}
        answers, rest = self._of(query)
        return answers.data(name, rest)

    def tile(self, query: Mapping[str, str]) -> bytes:
        """Cells of a run. Raises TracelibError."""
        answers, rest = self._of(query)
        return answers.tile(rest)

    def toml(self, query: Mapping[str, str]) -> str:
        """A view as a file: it names the first run."""
        return self.every[0].toml(query)

    def _of(self, query: Mapping[str, str]) -> tuple[Answers, dict[str, str]]:
        rest = dict(query)
        run = rest.pop(RUN, "0")
        if run not in map(str, range(len(self.every))):
            raise TracelibError(f"{RUN} = {run!r} is no run", f"there are {len(self.every)}")
        return self.every[int(run)], rest
