"""Stacks that cannot be walked, or only with care: the program does as without us, and its calls are there."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from call_paths import Places
from result import rank_files

FAMILIES = ("openmpi", "mpich")
ACTS = {
    "contexts": 10 * (1 + 2 + 3 + 4) * 3,
    "switched": 6 * 5,
    "made-code": 10 * 5,
    "deep": 2001,
    "jumps": None,
    "children": 4,
    "errors": 50,
    "alarmed": None,
}
"""Number of MPI_Send by act of programs/odd_stacks.c; None: it depends."""
SMALL_STACK = 20480  # less is too little for a thread's first call whether or not paths are recorded
DAMAGES = 12


@pytest.fixture
def undisturbed(launch, tmp_path):
    """undisturbed(leg, program, *words): its output with and without us is the same; the rank file."""

    def start(leg, program, *words, **options):
        plain = launch(leg, program, *words, ranks=1, preload=False).check()
        traced = launch(leg, program, *words, ranks=1, **options).check()
        assert traced.stdout == plain.stdout
        (file,) = rank_files(tmp_path / "run.h5")
        return file

    return start


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("debian", FAMILIES)
def test_odd_stacks(request, compiled, undisturbed, debian, act):
    leg = request.getfixturevalue(debian)
    file = undisturbed(leg, compiled(leg, "odd_stacks.c", "-pthread"), act)
    counts = file.counts()
    assert counts["MPI_Send"] == ACTS[act] or ACTS[act] is None
    assert len(file.tables["call_paths"]) == len(file.calls)


@pytest.mark.parametrize("debian", FAMILIES)
def test_a_small_stack_is_enough(request, compiled, undisturbed, debian):
    leg = request.getfixturevalue(debian)
    program = compiled(leg, "odd_stacks.c", "-pthread")
    assert undisturbed(leg, program, "small-threads", str(SMALL_STACK)).counts()["MPI_Send"] == 16


def test_of_a_deep_recursion_the_innermost_places_are_there(openmpi, compiled, undisturbed):
    program = compiled(openmpi, "odd_stacks.c", "-pthread")
    file = undisturbed(openmpi, program, "deep")
    places = Places.of(file, {program.name: program})
    ends = {tag: places.end(path) for tag, path in places.of_tags().items()}
    assert {ends[tag] for tag in range(1700)} == {"cut"}
    assert ends[2000] == ends[1900] == ""
    assert len(places.stack(places.of_tags()[0], ["odd_stacks.c"])) == 256


@pytest.mark.parametrize("flags", [["-Wl,--no-eh-frame-hdr"], ["-fno-asynchronous-unwind-tables"], ["-fsplit-stack"]])
def test_without_tables(openmpi, compiled, undisturbed, flags):
    """And on stacks in pieces, whose frames do not lie above each other."""
    gold = ["-fuse-ld=gold"] if flags == ["-fsplit-stack"] else []
    program = compiled(openmpi, "odd_stacks.c", "-pthread", *flags, *gold)
    file = undisturbed(openmpi, program, "jumps")
    assert all(file.tables["call_paths"] > 0)


def damaged(program: Path, copy: Path, chosen: random.Random) -> Path:
    """A copy in which some bytes of a table of frames are others."""
    said = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    name = chosen.choice([".eh_frame_hdr", ".eh_frame"])
    words = next(line for line in said.splitlines() if f" {name} " in line).split("]")[1].split()
    offset, size = int(words[3], 16), int(words[4], 16)
    data = bytearray(program.read_bytes())
    for _ in range(chosen.randint(1, 60)):
        data[offset + chosen.randrange(size)] = chosen.randrange(256)
    copy.write_bytes(data)
    shutil.copymode(program, copy)
    return copy


@pytest.mark.parametrize("debian", FAMILIES)
def test_damaged_tables(request, compiled, launch, tmp_path, debian):
    leg, chosen = request.getfixturevalue(debian), random.Random(debian)
    program = compiled(leg, "odd_stacks.c", "-pthread")
    plain = launch(leg, program, "jumps", ranks=1, preload=False).check()
    for i in range(DAMAGES):
        copy = damaged(program, tmp_path / f"damaged-{i}", chosen)
        assert launch(leg, copy, "jumps", ranks=1).check().stdout == plain.stdout, i


OF_HANDLER = 100000
"""Tags from here on are of the handler (programs/stepped.c)."""


@pytest.mark.parametrize("where", ["above", "below"])
@pytest.mark.parametrize("debian", FAMILIES)
def test_a_handler_after_each_instruction_of_a_call(request, compiled, undisturbed, debian, where):
    """All calls but the handler's are there, each once, with the one path that they have."""
    leg = request.getfixturevalue(debian)
    program = compiled(leg, "stepped.c", "-pthread")
    file = undisturbed(leg, program, where)
    places, tags = Places.of(file, {program.name: program}), file.calls["tag"][file.names == "MPI_Send"].tolist()
    paths = places.of_tags()
    assert [tag for tag in tags if tag < OF_HANDLER] == list(range(max(tag for tag in tags if tag < OF_HANDLER) + 1))
    assert {paths[tag] for tag in tags if tag < OF_HANDLER} == {paths[0]}
    (line,) = {places.stack(paths[tag], ["stepped.c"])[-1] for tag in tags if tag >= OF_HANDLER}
    assert line != places.stack(paths[0], ["stepped.c"])[-1]
    assert (file.calls["enter"] <= file.calls["exit"]).all()
