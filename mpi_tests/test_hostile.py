"""Programs that a tracer must survive without a trace of itself in what they do."""

import pytest
from result import rank_files


@pytest.fixture
def hostile(compiled, launch):
    """hostile(leg, act, ...): programs/hostile.c traced, after its answers were compared with those of an untraced run."""

    def start(leg, act, *, ranks=2, limit_s=20, **options):
        program = compiled(leg, "hostile.c", "-pthread")
        plain = launch(leg, program, act, ranks=ranks, preload=False, limit_s=limit_s)
        traced = launch(leg, program, act, ranks=ranks, limit_s=limit_s, **options)
        assert not traced.timed_out
        assert traced.returncode == plain.returncode == 0, traced.stderr
        assert sorted(traced.stdout.splitlines()) == sorted(plain.stdout.splitlines())
        return traced

    return start


@pytest.mark.parametrize("debian", ["openmpi", "mpich"])
def test_requests_that_share_a_handle(request, hostile, tmp_path, debian):
    hostile(request.getfixturevalue(debian), "many-requests")
    for file in rank_files(tmp_path / "run.h5"):
        assert file.counts()["MPI_Isend"] == len(file.tables["requests"]) == 100000
