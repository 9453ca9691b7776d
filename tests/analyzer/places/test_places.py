"""Which place a path belongs to, and its chain of callers: by hand, and by a program that prints its own stack."""

import re
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from path_tables import chain_of, path_tables
from whereabouts import SOURCES, compile_program, load_address, tool

from analyzer.places.lookup import look_up
from analyzer.places.modules import LoadedModule, ModuleState
from analyzer.places.name_cache import ModuleNames, NameCache
from analyzer.places.name_table import Frame, PlaceFrames
from analyzer.places.paths import merged_paths
from analyzer.places.place_table import Places
from tracelib.schema import PATH_CUT, PATH_LOST

APP, MPI, LIBC, PYTHON = "/bin/app", "/lib/libmpi_mpifh.so.40", "/lib/libc.so.6", "/usr/bin/python3.11"
CXX, OTHER, TOOL = "/lib/libstdc++.so.6", "/lib/libother.so", "/opt/libprofile.so"
MODULES = [(path, "") for path in (APP, MPI, LIBC, PYTHON, CXX, OTHER, TOOL)]
EXCHANGE = Frame("exchange", "/s/left/exchange.c", 212)
NAMES = {
    APP: {
        1: (Frame("main", "/s/main.c", 40),),
        2: (Frame("solve<int>(int)", "/s/main.c", 88),),
        3: (EXCHANGE,),
        4: (Frame("halo", "/s/halo.h", 7), EXCHANGE._replace(line=213)),
        5: (Frame("old", past=26),),
        6: (Frame("_start", past=33),),
        7: (Frame("MPI::Comm::Send(int)", "/mpi/comm_inln.h", 3), EXCHANGE._replace(line=214)),
        8: (EXCHANGE._replace(file="/s/right/exchange.c"),),
        9: (Frame("solve<long>(long)", "/s/main.c", 88),),
        10: (Frame("main", "/s/prog.f90", 3),),
        11: (Frame("program", "/s/prog.f90", 5),),
        12: (Frame("MPI_Barrier", "/t/wrappers.c", 9),),
        13: (Frame("count", "/t/count.c", 5), Frame("MPI_Send", "/t/wrappers.c", 10)),
        14: (Frame("count", "/t/count.c", 6),),
        15: (Frame("MPI_Exchange_all", "/s/all.c", 7),),
    },
    TOOL: {1: (Frame("count", "/t/count.c", 5),)},
    MPI: {1: (Frame("mpi_send", past=12),)},
    LIBC: {1: (Frame("qsort", past=3),)},
    PYTHON: {1: (Frame("_PyEval_EvalFrameDefault", past=9),)},
}
FUNCTIONS = [("Solver.step", "/s/solver.py"), ("Comm.send", "/x/mpi4py/util/pkl5.py")]
STEP, SEND = FUNCTIONS
START = [(APP, 6), (LIBC, 99), (APP, 1)]


def known_names():
    known = NameCache()
    for path, named in NAMES.items():
        names = PlaceFrames.build(named.values())
        offsets = np.array(list(named), np.uint64)
        known.add(ModuleNames(LoadedModule(path), offsets, names, ModuleState.GOOD, "x", is_tool=path == TOOL))
    return known


def places_of(*chains, functions=FUNCTIONS):
    """Places of some chains, and the path of each."""
    tables = path_tables(chains, MODULES, functions)
    by_chain = {chain_of(tables, path): path for path in range(len(tables.paths))}
    return Places(tables, known_names()), [by_chain[tuple(chain)] for chain in chains]


@pytest.mark.parametrize(
    ("chain", "place", "text"),
    [
        ([*START, (APP, 2), (APP, 3)], "exchange.c:212 in exchange", "{} < solve main.c:88 < main main.c:40"),
        ([*START, (APP, 3), (MPI, 1)], "exchange.c:212 in exchange", "{} < main main.c:40"),
        ([*START, (APP, 4)], "halo.h:7 in halo", "{} < exchange exchange.c:213 < main main.c:40"),
        ([*START, (APP, 7)], "exchange.c:214 in exchange", "{} < main main.c:40"),
        ([*START, (APP, 5)], "old+0x1a", "{} < main main.c:40"),
        ([*START, (APP, 0x1A2B)], "app+0x1a2b", "{} < main main.c:40"),
        ([(APP, 0x77), (APP, 3)], "exchange.c:212 in exchange", "{} < app+0x77"),
        ([*START, (LIBC, 1), (APP, 3)], "exchange.c:212 in exchange", "{} < qsort+0x3 < main main.c:40"),
        ([(LIBC, 98), (LIBC, 97), (APP, 3)], "exchange.c:212 in exchange", "{}"),
        ([*START, (LIBC, 1), (LIBC, 2), (MPI, 1)], "main.c:40 in main", "{}"),
        ([(LIBC, 98), (CXX, 3), (APP, 3)], "exchange.c:212 in exchange", "{}"),
        ([(CXX, 3), (MPI, 1)], "mpi_send+0xc", "{}"),
        # another tool: in a library of its own, or linked to the program
        ([*START, (APP, 3), (TOOL, 1)], "exchange.c:212 in exchange", "{} < main main.c:40"),
        ([*START, (APP, 3), (APP, 12), (APP, 14)], "exchange.c:212 in exchange", "{} < main main.c:40"),
        ([*START, (APP, 3), (APP, 12), (OTHER, 9), (APP, 14)], "exchange.c:212 in exchange", "{} < main main.c:40"),
        ([*START, (APP, 3), (APP, 13)], "exchange.c:212 in exchange", "{} < main main.c:40"),
        ([*START, (APP, 14)], "count.c:6 in count", "{} < main main.c:40"),
        ([*START, (APP, 12), (MPI, 1), (APP, 14)], "count.c:6 in count", "{} < main main.c:40"),  # MPI calls back
        ([*START, (APP, 15), (APP, 3)], "exchange.c:212 in exchange", "{} < main main.c:40"),  # MPI has no such one
        ([(None, PATH_CUT), (APP, 3)], "exchange.c:212 in exchange", "{} < ..."),
        ([(None, PATH_LOST), (APP, 3)], "exchange.c:212 in exchange", "{} < ?"),
        ([(None, PATH_LOST), *START], "main.c:40 in main", "{}"),
        ([(APP, 1), (None, PATH_LOST), (APP, 3)], "exchange.c:212 in exchange", "{} < ? < main main.c:40"),
        ([(APP, 1), (None, PATH_LOST)], "(not known)", "{} < main main.c:40"),
        ([(None, PATH_CUT), (MPI, 1)], "(not recorded)", "{}"),
        ([(MPI, 1)], "mpi_send+0xc", "{}"),
        ([(APP, 10), (APP, 11)], "prog.f90:5 in program", "{}"),
        ([*START[:2], (APP, 10)], "prog.f90:3 in main", "{}"),
        ([*START[:2], (PYTHON, 1), (STEP, 31), (PYTHON, 1), (SEND, 9), (MPI, 1)], "solver.py:31 in Solver.step", "{}"),
        ([(STEP, 2**32 - 1)], "solver.py:4294967295 in Solver.step", "{}"),
        ([(STEP, 2**62)], "Solver.step", "{}"),  # of a damaged file: no line
        ([], "(not known)", "{}"),
    ],
)
def test_place_and_chain(chain, place, text):
    places, (path,) = places_of(chain)
    assert places.text(places.place[path]) == place
    assert places.chain(path) == text.format(place)
    assert len(places.frames(path)) == places.chain(path).count(" < ") + bool(chain)


def test_without_functions_the_interpreter_is_a_program_like_any_other():
    places, (path,) = places_of([(PYTHON, 1)], functions=())
    assert places.chain(path) == "_PyEval_EvalFrameDefault+0x9"


def test_what_is_shown_as_the_same_is_one_place():
    """Two addresses on one line, two instances of a template; not two files of one name, nor another line."""
    chains = [[(APP, 2)], [(APP, 9)], [(APP, 1), (APP, 9)], [(APP, 3)], [(APP, 8)], [(APP, 5)]]
    places, paths = places_of(*chains)
    numbers = places.place[paths]
    assert numbers[0] == numbers[1] == numbers[2] and len(set(numbers)) == 4 and len(places) == 6  # 0, and main
    assert places.place[0] == 0 and places.text(0) == "(not known)" and places.location(0) == ""
    assert [places.text(place) for place in numbers[2:5]] == [
        "main.c:88 in solve",
        "left/exchange.c:212 in exchange",
        "right/exchange.c:212 in exchange",
    ]
    solve = numbers[0]
    assert (places.function(solve), places.file(solve), places.line(solve)) == ("solve", "/s/main.c", 88)
    assert places.location(solve) == "main.c:88" and places.location(numbers[5]) == ""


def test_paths_through_a_function_a_file_or_a_line():
    chains = [[*START], [*START, (APP, 2)], [*START, (APP, 2), (APP, 4)], [*START, (APP, 8), (MPI, 1)], [(STEP, 4)]]
    places, paths = places_of(*chains)

    def through(text):
        return places.through(text)[paths].tolist()

    assert through("main") == [True, True, True, True, False]
    assert through("solve") == through("solve<int>(int)") == [False, True, True, False, False]
    assert through("halo.h") == through("/s/halo.h:7") == [False, False, True, False, False]
    assert through("exchange.c") == [False] * 5
    assert through("left/exchange.c") == through("left/exchange.c:213") == [False, False, True, False, False]
    assert through("exchange") == [False, False, True, True, False]
    assert through("Solver.step") == through("solver.py:4") == [False] * 4 + [True]
    assert not any(through("mpi_send") + through("_start") + through("") + through(":7") + through("main.c:41"))


chains = st.lists(
    st.lists(
        st.tuples(st.just(APP), st.integers(1, 15))
        | st.tuples(st.just(TOOL), st.just(1))
        | st.tuples(st.just(MPI), st.integers(1, 2))
        | st.tuples(st.sampled_from(FUNCTIONS), st.integers(1, 2))
        | st.tuples(st.none(), st.sampled_from([PATH_CUT, PATH_LOST])),
        max_size=6,
    ),
    min_size=1,
    max_size=6,
)


@given(chains)
def test_the_place_is_the_innermost_frame_that_is_not_mpis(chains):
    """Frame by frame, and a path goes through the function of its place and of all frames that are shown."""
    places, paths = places_of(*chains)
    for chain, path in zip(chains, paths, strict=True):
        frames = frames_from_inside(chain)
        shown = [frame for frame, aside in frames if not aside] or [frame for frame, _ in frames]
        place = places.place[path]
        if not shown:
            assert place == 0
            continue
        assert places.function(place) == shown[0].function.partition("<")[0].partition("(i")[0]
        assert (places.file(place), places.line(place)) == (shown[0].file, shown[0].line)
        for frame in places.frames(path)[1:]:
            assert places.through(frame.function)[path]


def frames_from_inside(chain):
    """Each frame of a chain, innermost first, and whether it is aside: also what a wrapper of another tool calls."""
    frames, wrapped = [], False
    for site in chain:
        wrapped = wrapped and site[0] != MPI
        for frame, aside in reversed(frames_of(*site)):
            frames.insert(0, (frame, aside or wrapped))
            wrapped = wrapped or (site[0] == APP and frame.function in ("MPI_Barrier", "MPI_Send"))
    return frames


def frames_of(where, offset):
    """Each frame of a site, innermost first, and whether it is aside."""
    if where is None:
        return [(Frame("(not recorded)" if offset == PATH_CUT else "(not known)"), False)]
    if where in FUNCTIONS:
        return [(Frame(*where, offset), where == SEND)]
    named = NAMES[where].get(offset) or (Frame(f"{where.rpartition('/')[2]}+{offset:#x}"),)
    starts = [frame.function == "_start" or (frame.function == "main" and ".f90" in frame.file) for frame in named]
    mpi = [where in (MPI, TOOL) or frame.function.startswith("MPI") for frame in named]
    return [(frame, either) for frame, either in zip(named, map(max, starts, mpi), strict=True)]


def test_notes_are_on_modules_with_places_that_have_no_line():
    known = known_names()
    places = Places(path_tables([[(APP, 3)], [(APP, 1), (MPI, 1)]], MODULES), known)
    assert places.notes(np.arange(4)) == []
    known.modules[APP, ""] = ModuleNames(
        LoadedModule(APP), np.empty(0, np.uint64), PlaceFrames.build(()), ModuleState.NO_DEBUG_INFO
    )
    chains = [[(APP, 3)], [(APP, 1), (MPI, 1)], [(APP, 1), (OTHER, 1)], [(LIBC, 1)], [(MPI, 1)], [(PYTHON, 1)]]
    places = Places(path_tables(chains, MODULES), known)
    assert places.notes(np.array([0])) == []
    (said, other) = places.notes(np.arange(len(places.paths)))
    assert said.startswith("app has no debug information")
    assert other.startswith(f"{OTHER} is not on this machine")  # of libraries of the system nothing is said


def test_a_program_that_prints_its_stack(tmp_path):
    """From return addresses to the chain, with what is inlined and what the C library calls back."""
    if not shutil.which("gcc"):
        pytest.skip("gcc is not there")
    program = compile_program(tmp_path / "stack", "gcc", "-O2", "-g", sources=("stack.c",))
    source = (SOURCES / "stack.c").read_text().splitlines()
    line = {match[1]: i for i, text in enumerate(source, 1) if (match := re.search(r"/\* here: (\w+)", text))}
    addresses = [int(text, 16) for text in tool(program).split()]
    base = load_address(program)
    chain = [(str(program), base + at) if at else (LIBC, 5) for at in reversed(addresses)]
    tables, _ = merged_paths([path_tables([chain], [(str(program), ""), (LIBC, "")])])
    known = NameCache()
    assert look_up(tables, known)
    expected = "stack.c:{exchange} in exchange < halo stack.c:{halo} < solve stack.c:{solve} < libc.so.6+0x5 < "
    places = Places(tables, known)
    assert re.sub(r"libc.so.6\S+( < libc.so.6\S+)*", "libc.so.6+0x5", places.chain(len(tables.paths) - 1)) == (
        expected + "main stack.c:{main}"
    ).format(**line)
    assert not places.notes(np.array([len(tables.paths) - 1]))
