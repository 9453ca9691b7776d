"""Result of `analyze machine`: a machine as TOML, or as a Dimemas .cfg."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer.machine.description import AS_CALLS, Machine
from analyzer.machine.options import modules_text
from analyzer.machine.read_cfg import MachineConfiguration
from analyzer.machine.write_cfg import crashes_dimemas
from analyzer.machine.write_toml import machine_text
from analyzer.results.result import Result, print_lines


@dataclass(frozen=True, repr=False)
class MachineResult(Result):
    """Machine as text, and the files into which it was written."""

    _configuration: MachineConfiguration
    _written: Sequence[Path] = ()

    @property
    def text(self) -> str:
        """The machine as TOML."""
        return machine_text(self._configuration.machine) + modules_text(self._configuration.modules)

    @property
    def lacking(self) -> str:
        """Options that a written .cfg cannot hold, as text. "": none."""
        limit = eager_limit(self._configuration.machine)
        if limit is None or not any(path.suffix == ".cfg" for path in self._written):
            return ""
        return f"--eager-limit {limit} (Dimemas: -S {limit})"

    def to_dict(self) -> dict[str, Any]:
        written = [str(path) for path in self._written]
        return {"machine": tomllib.loads(self.text), "written": written, "said_elsewhere": self.lacking}

    def print(self, console: Console) -> None:
        if not self._written:
            print_lines(console, [self.text.rstrip("\n")])
            return
        lines = [f"Written: {', '.join(map(str, self._written))}"]
        if self.lacking:
            lines.append(f"A .cfg cannot hold this, so give it where the machine is used: {self.lacking}")
        if crashes := self._crashes():
            lines.append(f"Dimemas 5.5.0 crashes on {crashes}, which this machine needs")
        print_lines(console, lines)

    def _crashes(self) -> str:
        """Return the records of the .cfg on which Dimemas crashes, as text. "": none."""
        first = self._written[0]
        return crashes_dimemas(first.read_text()) if first.suffix == ".cfg" else ""


def eager_limit(machine: Machine) -> int | None:
    """Return the eager limit in bytes, if an option can give it.

    None: the machine has none, or sends follow their calls.
    """
    limit = machine.eager_limit
    return limit if isinstance(limit, int) and limit != AS_CALLS else None
