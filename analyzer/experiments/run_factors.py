"""Parameters of a whole run that no region gives: words of its command line, parts of its file's name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzer.errors import TracelibError
from analyzer.trace import Trace

_FORM = re.compile(r"(?P<name>[^=\s]+)=(?P<where>ARG|FILE)(?P<what>.+)", re.DOTALL)
_EXPECTED = "expected NAME=ARG2 (the second argument), NAME=ARG:-n (what follows -n), or NAME=FILE:REGEX"


@dataclass(frozen=True)
class RunFactor:
    """A parameter of a run, and where its value stands. Exactly one of position, word and pattern is set."""

    name: str
    position: int | None = None  # index in the command line, 0: the program; negative: from the end
    word: str | None = None  # the value follows this word, or stands in "WORD=VALUE"
    pattern: re.Pattern[str] | None = None  # the value is its group in the file's name

    @classmethod
    def parse(cls, text: str) -> RunFactor:
        """Parse "n=ARG1", "n=ARG:-n" or "n=FILE:n([0-9]+)".

        Raises:
            ValueError: The text is not of these forms.
        """
        found = _FORM.fullmatch(text)
        if not found:
            raise ValueError(f"{text!r} is not a parameter of a run: {_EXPECTED}")
        name, what = found["name"], found["what"]
        if found["where"] == "ARG" and re.fullmatch(r"-?\d{1,4}", what):
            return cls(name, position=int(what))
        if not what.startswith(":") or len(what) == 1:
            raise ValueError(f"{text!r} is not a parameter of a run: {_EXPECTED}")
        if found["where"] == "ARG":
            return cls(name, word=what[1:])
        try:
            pattern = re.compile(what[1:])
        except re.error as error:
            raise ValueError(f"{what[1:]!r} is not a regular expression: {error}") from error
        if pattern.groups != 1:
            raise ValueError(f"{what[1:]!r} needs one group, the value: n([0-9]+)")
        return cls(name, pattern=pattern)

    def of(self, trace: Trace) -> int | float | str:
        """Return the parameter's value in a run, as a number if it is one.

        Raises:
            TracelibError: The run's command or name does not have the parameter.
        """
        text = self._in_name(trace.path) if self.pattern else self._in_command(trace.origin.command.split())
        if text is None:
            where = f"in its name {trace.path}" if self.pattern else f"in its command {trace.origin.command!r}"
            raise TracelibError(f"{trace.path} does not say {self.name} {where}", "look for it elsewhere: --set")
        return value_of(text)

    def _in_name(self, path: str) -> str | None:
        assert self.pattern
        found = self.pattern.search(path)
        return found[1] if found else None

    def _in_command(self, words: list[str]) -> str | None:
        if self.position is not None:
            inside = -len(words) <= self.position < len(words)
            return words[self.position] if inside else None
        for word, following in zip(words, [*words[1:], None], strict=True):
            if word == self.word:
                return following
            if word.startswith(f"{self.word}="):
                return word.removeprefix(f"{self.word}=")
        return None


def value_of(text: str) -> int | float | str:
    """Return a text as an integer, else as a real number, else as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
