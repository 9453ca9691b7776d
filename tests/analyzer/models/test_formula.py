"""A stated formula: what is read, and the coefficients that a fit gives, beside numpy's own least squares."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.models.described_terms import FitOptions
from analyzer.models.study import study
from analyzer.models.terms.formula import formula_of, stated_formulas
from analyzer.models.terms.names import identifiers, with_identifiers


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("mm[0]+mm[1]*n*n/p", {"mm[0]": "1", "mm[1]": "n^2/p"}),
        ("(c[0] + c[1]*n)*m", {"c[0]": "m", "c[1]": "m*n"}),
        ("c[1]*(n + p) - n/2*c[0]", {"c[0]": "n/-2", "c[1]": "(n + p)"}),
        ("c[0]*n + c[0]*p*2", {"c[0]": "(2*p + n)"}),
        ("c[0]*pow(n,3)*log2(p)/p", {"c[0]": "log2(p)*n^3/p"}),
        ("-c[10]", {"c[10]": "-1"}),
    ],
)
def test_what_is_read(text, terms):
    assert {name: str(term) for name, term in formula_of(text).terms.items()} == terms


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n", "has no coefficient"), ("c[0] + 3*n", "3*n in the formula"), ("c[0]*c[1]", "c[0]*c[1] in the formula"),
        ("log(c[0])", "one coefficient"), ("c[0]/(1+c[1]*n)", "one coefficient"),
        ("a[0]+b[0]*n", "coefficients of a, b"),
        ("c[0]-c[0]+c[1]*n", "c[0] in the formula"), ("c[0]*(", "cannot be read"), ("c[0]*f(n)", "unknown function f"),
    ],
)  # fmt: skip
def test_what_is_no_formula(text, says):
    with pytest.raises(TracelibError) as caught:
        formula_of(text)
    assert says in str(caught.value)


def test_formulas_of_pragmas(tmp_path):
    source = tmp_path / "mm.c"
    source.write_text(
        "#include <mpi.h>\n#pragma cll parallel MPI\n  #pragma cll mm CLOCK=mm[0]+ \\\n mm[1]*n*n/p /* ranks */\n"
        "#pragma cll end mm\n#pragma cll io CLOCK=io[0]*bytes // all\n#pragma omp parallel\n"
    )
    found = stated_formulas(source)
    assert list(found) == ["mm", "io"] and found["io"] == "io[0]*bytes"
    assert {name: str(term) for name, term in formula_of(found["mm"]).terms.items()} == {"mm[0]": "1", "mm[1]": "n^2/p"}


FACTORS = st.sampled_from([-3.0, -1.0, 0.5, 1.0, 4.0])


@given(st.integers(0, 2**32 - 1), FACTORS, FACTORS)
@settings(max_examples=25, deadline=None)
def test_coefficients_are_those_of_least_squares(seed, first, second):
    """Ordinary least squares and (X^T X)^-1, written out here."""
    random = np.random.default_rng(seed)
    n, p = random.uniform(1, 9, 20), random.uniform(1, 5, 20)
    time = 2 + 3 * n * n / p + random.standard_normal(20)
    formula = formula_of(f"{first}*a[0] + a[1]*n*n/p*({second})")
    frame = pd.DataFrame({"n": n, "p": p, "time": time})
    found = study(frame, "time", ["n", "p"], formula, FitOptions(weighting="ordinary"))
    matrix = np.column_stack([np.full(20, first), second * n * n / p])
    value, (rss,), *_ = np.linalg.lstsq(matrix, time, rcond=None)
    error = np.sqrt(rss / 18 * np.diag(np.linalg.inv(matrix.T @ matrix)))
    assert [one.value for one in found.coefficients] == pytest.approx(value)
    assert [one.standard_error for one in found.coefficients] == pytest.approx(error)


def test_what_the_data_cannot_tell():
    """2 c[1] + c[0] and c[3] + c[2] / 4 are known, none of these four is; c[4] is."""
    n = np.array([1.0, 2, 3, 4, 5, 6])
    frame = pd.DataFrame({"n": n, "p": np.full(6, 4.0), "time": 1 + n + n**2})
    found = study(frame, "time", ["n", "p"], formula_of("c[0]*n + c[1]*2*n + c[2]/p + c[3] + c[4]*n*n"))
    assert [one.value is None for one in found.coefficients] == [True, True, True, True, False]
    assert found.coefficients[4].value == pytest.approx(1)


NAMES = ["n", "v[1]", "v[i]", "p->n", "grid.n", "*q", "grid_n", "lambda", "time (s)", "2nd"]


def test_identifiers():
    found = identifiers(NAMES)
    assert set(found) == set(NAMES) - {"n", "grid_n"}
    every = [found.get(name, name) for name in NAMES]
    assert len(set(every)) == len(NAMES) and all(name.isidentifier() for name in every)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{v[1],p->n*2*grid.n}", "{v_1,p_n*2*grid_n_}"),
        ("sub.grid.n + grid.nodes + q->p->n", "sub.grid.n + grid.nodes + q->p->n"),
        ("name == 'grid.n' and grid.n > 1", "name == 'grid.n' and grid_n_ > 1"),
        ("2**q + *q", "2**q + q"),
        ("v[1]/v[i] + v[10]", "v_1/v_i + v[10]"),
    ],
)
def test_names_stand_alone(text, expected):
    assert with_identifiers(text, identifiers(NAMES)) == expected


def test_columns_of_c_variables_in_terms_and_parameters():
    frame = pd.DataFrame({"v[1]": [1.0, 2, 3, 4, 5, 6], "p->n": [2.0, 2, 4, 4, 6, 8]})
    frame["time"] = 3 + 2 * frame["v[1]"] * frame["p->n"]
    found = study(frame, "time", ["v[1]", "p->n"], "{v[1]},{p->n}")
    assert found.model.predict(v_1=10, p_n=10) == pytest.approx(203)
    assert found.guidance[:2] == ("In formulas v[1] is v_1.", "In formulas p->n is p_n.")
