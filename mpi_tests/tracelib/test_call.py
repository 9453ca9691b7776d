"""Annotated programs under real MPIs: they print the same, and leave one row for each execution."""

import io

import pytest
from gmond import gmond_server
from lxml import etree

import analyzer
from analyzer.cli import main
from analyzer.experiments.formats.tia_xml import DTD
from tracelib.call.files import translate_file
from tracelib.launchers import INCLUDE

FIGURE = """#include "mpi.h"
#include <stdio.h>
#pragma cll parallel MPI

int main (int argc, char *argv[])
{
    int var1, rank;
    double var2 = 0.5, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (var1 = 1; var1 <= 4; var1++) {
#pragma cll exp_name CLOCK=exp_name[0]*var1*var2
        double mine = (rank + 1) * var1 * var2;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#pragma cll end exp_name
        if (rank == 0) printf("%d %g\\n", var1, sum);
        var2 *= 2;
    }
#pragma report exp_name
    MPI_Finalize();
    return 0;
}
"""
"""The thesis's annotated program (Rodriguez 2011, Fig. 2.4), with something to do."""


FORTRAN = {
    "a.f90": """program a
  use mpi
  implicit none
  type grid_t
    integer :: n
  end type
  type(grid_t) :: grid
  integer :: ierr, i, widths(2)
  double precision :: mine, total
  call MPI_Init(ierr)
  widths = (/ 4, 5 /)
  do i = 1, 3
    grid%n = 10 * i
    mine = 0.5d0 * i
    !$cll summing CLOCK=summing[0]*grid%n**2 &
    !$cll   *widths(2)*mine
    call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    !$cll end summing
  end do
  print '(f6.2)', total
  call MPI_Finalize(ierr)
end program
""",
    "b.f": """      program b
      implicit none
      include 'mpif.h'
      integer ierr, i, n, widths(2)
      double precision mine, total
      call MPI_Init(ierr)
      widths(2) = 5
      do i = 1, 3
        n = 10 * i
        mine = 0.5d0 * i
c$cll summing CLOCK=summing[0]*n**2*widths(2)*mine
        call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION,
     &    MPI_SUM, MPI_COMM_WORLD, ierr)
c$cll end summing
      end do
      print '(f6.2)', total
      call MPI_Finalize(ierr)
      end
""",
}


@pytest.mark.parametrize("name", FORTRAN)
@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_fortran(request, compiled, launch, traced, tmp_path, mpi_name, name):
    """In free and in fixed form: the same output, and a row for each execution with its variables."""
    leg = request.getfixturevalue(mpi_name)
    source = tmp_path / name
    source.write_text(FORTRAN[name])
    plain = launch(leg, compiled(leg, source), ranks=2, preload=False).check()
    made = translate_file(str(source), None, force=False).path
    program = compiled(leg, INCLUDE / "tracelib.f90", "-J", str(tmp_path), str(made))  # the module before who uses it
    run = traced(leg, program, ranks=2)
    assert run.finished.stdout == plain.stdout
    frame = analyzer.experiments_frame([run.run])
    assert frame["rank"].tolist() == [0] * 3 + [1] * 3
    assert frame["grid%n" if name == "a.f90" else "n"].tolist() == [10, 20, 30] * 2
    assert frame["widths(2)"].tolist() == [5] * 6
    assert frame["mine"].tolist() == [0.5, 1.0, 1.5] * 2


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_the_thesis_s_program(request, compiled, launch, traced, tmp_path, mpi_name):
    leg = request.getfixturevalue(mpi_name)
    source = tmp_path / "figure.c"
    source.write_text(FIGURE)
    plain = launch(leg, compiled(leg, source, "-Wno-unknown-pragmas"), ranks=2, preload=False).check()
    made = translate_file(str(source), None, force=False).path
    run = traced(leg, compiled(leg, made, f"-I{INCLUDE}"), ranks=2)
    assert run.finished.stdout == plain.stdout == "1 1.5\n2 6\n3 18\n4 48\n"

    assert main(["table", str(run.run), "-o", str(tmp_path / "table.xml"), "-q"]) == 0
    tree = etree.parse(tmp_path / "table.xml")
    assert etree.DTD(io.StringIO(DTD)).validate(tree)
    (experiment,) = tree.findall("cll_experiment")
    assert experiment.get("name") == "exp_name" and len(experiment.findall("sample/row")) == 2 * 4
    assert "CLOCK" in [h.text for h in experiment.findall("headers/h")]

    frame = analyzer.experiments_frame([tmp_path / "table.xml"])
    assert frame["rank"].tolist() == [0] * 4 + [1] * 4 and frame["execution"].tolist() == [1, 2, 3, 4] * 2
    assert frame["var1"].tolist() == [1, 2, 3, 4] * 2 and frame["var2"].tolist() == [0.5, 1, 2, 4] * 2
    assert (frame["time"] >= frame["mpi"]).all() and (frame["mpi"] > 0).all()


def test_one_rank_asks_a_driver_for_all(openmpi, compiled, traced, tmp_path):
    """Its number is that of rank 0's region; with it `analyze table` finds the reply for the others."""
    source = tmp_path / "figure.c"
    asking = FIGURE.replace("parallel MPI", "parallel MPI\n#pragma cll uses Ganglia").replace("CLOCK", "GANGLIA_MPI")
    source.write_text(asking.replace("<= 4", "<= 2"))
    made = translate_file(str(source), None, force=False).path
    with gmond_server() as address:
        run = traced(openmpi, compiled(openmpi, made, f"-I{INCLUDE}"), ranks=2, env={"TRACELIB_GANGLIA": address})
    assert run.finished.stdout == "1 1.5\n2 6\n"
    replies = sorted(path.name.split(".")[1] for path in tmp_path.glob("exp_name.*.ganglia.xml"))
    frame = analyzer.experiments_frame([run.run])
    assert frame[["rank", "execution"]].to_numpy().tolist() == [[0, 1], [0, 2], [1, 1], [1, 2]]
    assert frame["ganglia"].fillna(0).tolist() == [float(replies[0]), float(replies[1]), 0, 0]
