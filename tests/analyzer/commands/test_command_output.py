"""Output of a command on a terminal, and on the launcher's own, which hands everything on to wherever it goes."""

import io
import sys

import pytest

from analyzer.commands.shared.session import Session
from analyzer.parallel import Team


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Two(Team):
    size = 2


@pytest.mark.parametrize(("team", "coloured"), [(Team(), True), (Two(), False)])
def test_colours_are_for_people(monkeypatch, team, coloured):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", Terminal())
    Session(team).print(lambda console: console.print("[bold]share[/bold]"))
    printed = sys.stdout.getvalue()
    assert "share" in printed
    assert ("\x1b[" in printed) == coloured
