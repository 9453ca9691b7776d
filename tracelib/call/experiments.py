"""Checks of a file's pragmas, which find the driver of each experiment. Errors have line and column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tracelib.call.pragmas import Pragma
from tracelib.call.scan import Directive, place
from tracelib.drivers import Driver, driver_named, driver_of
from tracelib.errors import TracelibError

COMMUNICATION = ("SEQ", "MPI", "OpenMP", "PUB_BSP")
"""Communication drivers of the thesis (section 2.3.1).

The runtime collects the data of all ranks and threads with any of them. Only drivers that one rank has to ask would
need to know."""
_STATEMENT_MAY_FOLLOW = ";{}:"


@dataclass(frozen=True)
class PlacedPragma:
    """Pragma, with the directive in the source that contains it."""

    pragma: Pragma
    directive: Directive


@dataclass(frozen=True)
class ExperimentDrivers:
    """Drivers of the experiments of a source file.

    Attributes:
        of: Driver of each experiment, by name.
        declared: All drivers that the source declares.
    """

    of: dict[str, Driver]
    declared: tuple[Driver, ...]

    def environment(self, found: Sequence[PlacedPragma]) -> dict[str, str]:
        """Return the environment variables that a run needs to record the observables."""
        needed: dict[str, str] = {}
        for observable, driver in {(one.pragma.observable, self.of[one.pragma.name]) for one in begins(found)}:
            needed.update(driver.environment(observable))
        return dict(sorted(needed.items()))

    @property
    def advice(self) -> tuple[str, ...]:
        """Advice of the drivers that need more than a traced run: what to start in addition."""
        return tuple(driver.advice for driver in self.declared if driver.advice)


def begins(found: Sequence[PlacedPragma]) -> list[PlacedPragma]:
    """Select the pragmas that begin an experiment."""
    return [one for one in found if one.pragma.kind == "begin"]


def names(found: Sequence[PlacedPragma]) -> tuple[str, ...]:
    """Return the names of the experiments, each once, in order of their first begin."""
    return tuple(dict.fromkeys(one.pragma.name for one in begins(found)))


class PragmaCheck:
    """Check of whether the pragmas of a source file belong together."""

    def __init__(self, source: str, name: str, found: Sequence[PlacedPragma], begun: set[str]) -> None:
        self._source, self._name, self._found, self._begun = source, name, found, begun

    def drivers(self) -> ExperimentDrivers:
        """Find the driver of each experiment.

        Raises:
            TracelibError: A pragma is wrong, or misses its counterpart.
        """
        used = {"CLOCK": driver_named("CLOCK")}
        of: dict[str, Driver] = {}
        ended = {one.pragma.name for one in self._found if one.pragma.kind == "end"}
        for one in self._found:
            pragma = one.pragma
            if pragma.kind == "parallel" and pragma.name not in COMMUNICATION:
                self._fail(one, f"there is no communication driver {pragma.name}: {', '.join(COMMUNICATION)}")
            elif pragma.kind == "uses":
                used[one.pragma.name] = self._driver(one)
            elif pragma.kind == "begin":
                of[pragma.name] = self._of_experiment(one, used, of)
                if pragma.name not in ended:
                    self._fail(one, f"{pragma.name} has no #pragma cll end {pragma.name}")
            elif pragma.kind in ("end", "report") and pragma.name not in self._begun:
                self._fail(one, f"no experiment {pragma.name} begins in this file")
            if pragma.kind in ("begin", "end"):
                self._check_place(one)
        return ExperimentDrivers(of, tuple(used.values()))

    def _driver(self, one: PlacedPragma) -> Driver:
        try:
            return driver_named(one.pragma.name)
        except LookupError as error:
            self._fail(one, str(error))
            raise

    def _of_experiment(self, one: PlacedPragma, used: Mapping[str, Driver], of: dict[str, Driver]) -> Driver:
        pragma = one.pragma
        try:
            driver = driver_of(pragma.observable)
        except LookupError as error:
            raise self._at(one, pragma.observable_at, str(error)) from error
        if driver.declared and driver.name not in used:
            raise self._at(one, pragma.observable_at, f"{pragma.observable} needs #pragma cll uses {driver.name}")
        if of.get(pragma.name, driver) is not driver:
            self._fail(one, f"{pragma.name} has another observable already")
        return driver

    def _check_place(self, one: PlacedPragma) -> None:
        if one.directive.depth < 1:
            self._fail(one, "an experiment begins and ends inside a function")
        if one.directive.before not in _STATEMENT_MAY_FOLLOW:
            raise self._at(one, 0, "no statement can stand here: put braces around it, or a semicolon before it")

    def _fail(self, one: PlacedPragma, message: str) -> None:
        raise self._at(one, one.pragma.at, message)

    def _at(self, one: PlacedPragma, at: int, message: str) -> TracelibError:
        return error_at(self._source, self._name, one.directive.begin + at, message)


def error_at(source: str, name: str, at: int, message: str) -> TracelibError:
    """Return an error whose message begins with file name, line and column.

    Args:
        source: Text of the file.
        name: Name of the file.
        at: Position in the text.
        message: What is wrong.
    """
    line, column = place(source, at)
    return TracelibError(f"{name}:{line}:{column}: {message}")
