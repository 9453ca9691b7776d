"""How code of Python at the level of modules is named, on a run of mpi4py that imports modules that call MPI."""

import json
import re

import pytest
from conftest import source_of

COMMANDS = ("look", "waits", "critical-path", "efficiency", "limits", "hot")
WIDEST = 24
"""Longer words are broken in a narrow column."""


@pytest.fixture
def ran(openmpi, traced):
    """ran(**variables): a run of programs/places/modules.py on two ranks."""

    def start(**variables):
        return traced(openmpi, openmpi.python, str(source_of("modules.py")), ranks=2, env=variables)

    return start


@pytest.mark.parametrize("sampled", [True, False])
def test_places_of_modules(ran, analyze, sampled):
    """No stretch goes backwards, and each <module> has its file."""
    ran(**({"TRACELIB_SAMPLE": "2ms"} if sampled else {}))
    stretches = []
    for command in COMMANDS:
        text = " ".join(analyze(command, "run.h5").check().stdout.split())
        found = re.findall(r"_module\.py:(\d+)-(\d+)|modules\.py:(\d+)-(\d+)", text)
        stretches += [tuple(int(number) for number in numbers if number) for numbers in found]
    assert stretches and all(first <= second for first, second in stretches)
    places = json.loads(analyze("look", "--no-files", "run.h5", "--json").check().stdout)["places"]
    of_modules = {row["place"] for row in places if row["function"] == "<module>"}
    assert {"outer_module.py:6", "outer_module.py:12", "inner_module.py:8", "modules.py:31"} <= of_modules
    assert all(re.fullmatch(r"\w+\.py:\d+", place) for place in of_modules)


def test_the_headline_is_a_function_that_is_known(ran, analyze):
    ran(TRACELIB_SAMPLE="2ms")
    found = json.loads(analyze("hot", "run.h5", "--json").check().stdout)["functions"]
    of_modules = {f["place"] for f in found if f["place"].startswith("<")}
    assert "<module> (inner_module.py)" in of_modules
    assert all(re.fullmatch(r"<\w+> \(.+\)", place) for place in of_modules)
    said = " ".join(analyze("look", "run.h5").check().stdout.split())
    (named,) = re.findall(r"of computing(?: with a CPU)? is in (.+?\)|\w+)", said)
    assert named == "<module> (inner_module.py)"


def test_the_table_without_samples_can_be_read(ran, analyze):
    """No word is broken: the columns of places have the width that numbers leave."""
    ran()
    rows = json.loads(analyze("hot", "run.h5", "--json").check().stdout)["between"][:10]
    text = analyze("hot", "run.h5").check().stdout
    words = {word for row in rows for word in f"{row['before']} {row['after']}".split() if len(word) <= WIDEST}
    assert {"Barrier", "<module>", "modules.py:36"} <= words
    assert words <= set(text.split())
    assert max(map(len, text.splitlines())) <= 120
