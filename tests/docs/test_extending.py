"""The code in docs/extending.md is run: a source, an analysis with its command, a writer."""

import re
import subprocess

import pytest
from click.testing import CliRunner
from paths import DOCS, ROOT

import analyzer
from analyzer.commands.shared.session import Session
from analyzer.opening import open_trace
from analyzer.parallel import Team
from analyzer.waits.kinds import WaitKind

PAGE = (DOCS / "extending.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The names that the page defines, in a folder with its CSV, where it writes."""
    folder = tmp_path_factory.mktemp("extending")
    (folder / "calls.csv").write_text(blocks("csv")[0])
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in blocks("python"):
            exec(compile(block, "extending.md", "exec", dont_inherit=True), names)
    return names | {"folder": folder}


def test_the_calls_of_the_csv(shown):
    trace = shown["trace"]
    assert (trace.size, trace.duration_ns, trace.problems) == (2, 7_100_000, [])
    frame = analyzer.calls_frame(trace, 0)
    assert frame["call"].tolist() == ["MPI_Init", "MPI_Send", "MPI_Allreduce", "MPI_Finalize"]
    assert frame["exit"].tolist() == [1_000_000, 3_100_000, 6_100_000, 7_100_000]
    message = trace.messages()[0]
    assert [int(message[c]) for c in ("source", "destination", "size", "tag")] == [0, 1, 800, 7]
    assert [int(message[c]) for c in ("logical_send", "physical_receive")] == [3_000_000, 3_200_000]


def test_the_first_look(shown):
    """Rank 0 computes 2.0 + 0.9 + 0.9 ms, rank 1 1.0 + 2.8 + 0.9."""
    assert shown["look"].useful.by_rank().tolist() == [3_800_000, 4_700_000]


def test_efficiency(shown):
    factors = shown["efficiency"].efficiency
    assert factors.load_balance == pytest.approx(4.25 / 4.7)
    assert factors.parallel_efficiency == pytest.approx(4.25 / 7.1)


def test_waits(shown):
    """Rank 1 receives 1 ms before rank 0 sends; rank 0 is 2 ms early at the sum."""
    times = shown["waiting"].time_ns
    assert times[1, WaitKind.LATE_SENDER] == 1_000_000 and times[0, WaitKind.N_TO_N] == 2_000_000
    assert shown["waiting"].total_ns == 3_000_000


def test_replay(shown):
    """On an ideal machine rank 0 sends after 2 ms; then rank 1 computes 2.8 ms up to the sum, and both 0.9 more."""
    assert shown["ideal"].end_ns == 5_700_000


def test_prv(shown):
    again = open_trace(shown["folder"] / "calls.prv")
    assert again.messages()[["source", "destination", "size"]].tolist() == [(0, 1, 800)]
    assert (
        again.states()[["begin", "end", "rank"]].tolist() == shown["trace"].states()[["begin", "end", "rank"]].tolist()
    )
    again.close()


def test_the_analysis(shown):
    found = shown["longest_calls"](shown["trace"], Team())
    assert found == [(2_100_000, "MPI_Allreduce"), (1_200_000, "MPI_Recv")]


def test_the_command(shown):
    ran = CliRunner().invoke(shown["longest"], [str(shown["folder"] / "calls.prv")], obj=Session(Team()))
    assert ran.output == "rank 0: MPI_Allreduce, 2.10 ms\nrank 1: MPI_Recv, 1.20 ms\n"


def test_the_writer(shown):
    again = shown["open_csv"](shown["folder"] / "again.csv")
    for rank in range(2):
        assert analyzer.calls_frame(again, rank).equals(analyzer.calls_frame(shown["trace"], rank))


def test_the_driver(shown):
    """It is one of this machine, which may have no thermometer."""
    driver = shown["Heat"]()
    assert driver.has("HEAT_MAX") and not driver.has("CLOCK")
    for moment in driver.moments:
        assert all(name == f"heat_{moment}" and value < 200 for name, value in driver.read(moment, "solve").items())


def test_the_backend_compiles(tmp_path):
    """As the runtime is: with warnings, and the header that is made of the schema."""
    (tmp_path / "switches.c").write_text(blocks("c")[0])
    folders = [f"-I{ROOT / folder}" for folder in ("csrc/runtime", "build/generated")]
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *folders, "switches.c"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_the_files_it_names_are_there():
    for name in re.findall(r"`((?:analyzer|csrc|docs|tests|mpi_tests|tracelib)/[\w/.-]+)`", PAGE):
        assert "NAME" in name or "GROUP" in name or (ROOT / name).exists(), name
    for target in re.findall(r"\]\(\.\./([\w/.]+)\)", PAGE):
        assert (ROOT / target).exists(), target
