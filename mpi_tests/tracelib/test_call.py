"""Annotated programs under real MPIs: they print the same, and leave one row for each execution."""

import io
import json

import numpy as np
import pytest
from lxml import etree

from analyzer.experiments.formats.xml_form import DTD
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


@pytest.mark.parametrize("mpi_name", ["openmpi", "mpich"])
def test_the_thesis_s_program(request, compiled, launch, traced, analyze, tmp_path, mpi_name):
    leg = request.getfixturevalue(mpi_name)
    source = tmp_path / "figure.c"
    source.write_text(FIGURE)
    plain = launch(leg, compiled(leg, source, "-Wno-unknown-pragmas"), ranks=2, preload=False).check()
    made = translate_file(str(source), None, force=False).path
    run = traced(leg, compiled(leg, made, f"-I{INCLUDE}"), ranks=2)
    assert run.finished.stdout == plain.stdout == "1 1.5\n2 6\n3 18\n4 48\n"

    analyze("table", run.run, "-o", "table.xml", "-q").check()
    tree = etree.parse(tmp_path / "table.xml")
    assert etree.DTD(io.StringIO(DTD)).validate(tree)
    (experiment,) = tree.findall("cll_experiment")
    assert experiment.get("name") == "exp_name" and len(experiment.findall("sample/row")) == 2 * 4
    assert "CLOCK" in [h.text for h in experiment.findall("headers/h")]

    columns = json.loads(analyze("table", "table.xml", "--json").check().stdout)["columns"]
    assert columns["rank"] == [0] * 4 + [1] * 4 and columns["execution"] == [1, 2, 3, 4] * 2
    assert columns["var1"] == [1, 2, 3, 4] * 2 and columns["var2"] == [0.5, 1, 2, 4] * 2
    assert (np.array(columns["time"]) >= columns["mpi"]).all() and (np.array(columns["mpi"]) > 0).all()
