"""Fortran sources with pragmas, translated: what is recorded, what is passed through, what is refused."""

import re

import pytest
from click.testing import CliRunner

from tracelib import commands
from tracelib.call.fortran import translate_fortran
from tracelib.errors import TracelibError

HEAD = "subroutine solve(n)\n"


def recorded(expression, experiment="solve"):
    """The variables that an expression records."""
    source = f"{HEAD}!$cll {experiment} CLOCK={expression}\n!$cll end {experiment}\nend\n"
    made = translate_fortran(source, "a.f90", fixed=False).source
    found = re.findall(r'call tracelib_region_parameter\("([^"]*)", (.*?)\)(?:;|$)', made, re.MULTILINE)
    assert all(name == value for name, value in found)
    return [name for name, _ in found]


@pytest.mark.parametrize(
    ("expression", "variables"),
    [
        ("solve[0]+solve[1]*n", ["n"]),
        ("solve[0]*n**3*m", ["n", "m"]),
        ("solve[0]*v(2)", ["v(2)"]),
        ("solve[0]*a(i, j+1)*n", ["a(i,j+1)", "n"]),
        ("solve[0]*grid%n + grid % h", ["grid%n", "grid%h"]),
        ("solve[0]*grid%cells(i)%n", ["grid%cells(i)%n"]),
        ("solve[0]*n*LOG(dble(n))", ["n"]),
        ("solve[0]*max(n, m)*size(v)", ["n", "m", "v"]),
        ("solve[0]*(n+m)*2.5d0", ["n", "m"]),
        ("solve[0] ! n", []),
    ],
)
def test_variables_of_an_expression(expression, variables):
    assert recorded(expression) == variables


def test_what_is_no_pragma_is_passed_through_and_lines_keep_their_numbers():
    lines = ["program a", "!$omp parallel", "  !$CLL x CLOCK=x[0]*n", "print *, '!$cll y'", "\t!$cll end x", "end"]
    made = translate_fortran("\n".join(lines), "a.f90", fixed=False)
    found = made.source.splitlines()
    assert [line for line in found if line in lines] == [lines[i] for i in (0, 1, 3, 5)]
    assert found.index(lines[3]) == 3
    assert found.index("end") == 5
    assert (made.header, made.experiments) == ("", ("x",))


def test_a_pragma_of_several_lines():
    source = f"{HEAD}!$cll x CLOCK=x[0]* & ! and so on\n  !$cll & n\n!$cll end x\nend\n"
    made = translate_fortran(source, "a.f90", fixed=False).source
    assert '"n", n' in made
    assert made.splitlines()[4 - 1].startswith("block; use tracelib; call tracelib_region_end")


@pytest.mark.parametrize("variables", [1, 2, 9])
def test_no_line_is_longer_than_fortran_allows(variables):
    names = [f"a_rather_long_name_of_a_variable_{i}(index_{i}, another_index)" for i in range(variables)]
    free = f"{HEAD}!$cll x CLOCK=x[0]*{'*'.join(names)}\n!$cll end x\nend\n"
    assert max(map(len, translate_fortran(free, "a.f90", fixed=False).source.splitlines()[1:2])) <= 132
    fixed = free.replace("!$cll", "c$cll")
    lines = translate_fortran(fixed, "a.f", fixed=True).source.splitlines()
    assert max(len(line) for line in lines) <= 72
    joined = "".join(line[6:] if line.startswith("     &") else "\n" + line for line in lines)
    for name in names:
        plain = name.replace(" ", "")
        assert f'call tracelib_region_parameter("{plain}", {plain})' in joined


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (f"{HEAD}!$cll x CLOCK=\nend", r"a.f90:2:15: expected a variable"),
        (f"{HEAD}  !$cll x CLOCK=x[0]*n)\nend", r"a.f90:2:\d+: expected the end of the line"),
        (f"{HEAD}!$cll x CLOCK=x[0]\nend", r"x has no #pragma cll end x"),
        (f"{HEAD}!$cll end x\nend", r"a.f90:2:11: no experiment x begins"),
        (f"{HEAD}!$cll x NONE_SUCH=x[0]\n!$cll end x\nend", r"a.f90:2:9: no driver observes NONE_SUCH"),
        (f"{HEAD}!$cll uses Ganglia\n!$cll x GANGLIA_MPI=x[0]\n!$cll end x\nend", "only translated C and C"),
    ],
)
def test_what_is_wrong_is_named_with_line_and_column(source, said):
    with pytest.raises(TracelibError, match=said):
        translate_fortran(source, "a.f90", fixed=False)


def test_the_network_is_measured_beside_the_run(tmp_path):
    """Figure 3.7 of Rodriguez 2011 in either language: what to type is said."""
    (tmp_path / "ng.c").write_text(
        "#pragma cll uses NGMPI\nint main(void) {\n#pragma cll ng NGMPI_LOGP=ng[0]\n;\n#pragma cll end ng\n}\n"
    )
    (tmp_path / "ng.f90").write_text("program a\n!$cll uses NGMPI\n!$cll ng NGMPI_LOGP=ng[0]\n!$cll end ng\nend\n")
    for name in ("ng.c", "ng.f90"):
        done = CliRunner().invoke(commands.commands, ["call", str(tmp_path / name)])
        assert done.exit_code == 0
        assert "mpirun -n 2 python -m tracelib.ngmpi" in done.output
        assert "analyze table run.h5 --network" in done.output


def test_the_translation_may_be_made_again_and_nothing_else_is_replaced(tmp_path):
    source = tmp_path / "a.f90"
    source.write_text(f"{HEAD}!$cll x CLOCK=x[0]*n\n!$cll end x\nend\n")
    call = ["call", str(source)]
    assert CliRunner().invoke(commands.commands, call).exit_code == 0
    assert CliRunner().invoke(commands.commands, call).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.cll.f90", "a.f90"]
    (tmp_path / "a.cll.f90").write_text("mine\n")
    assert CliRunner().invoke(commands.commands, call).exit_code != 0
    assert (tmp_path / "a.cll.f90").read_text() == "mine\n"
    assert CliRunner().invoke(commands.commands, [*call, "-o", str(tmp_path / "b.c")]).exit_code != 0
