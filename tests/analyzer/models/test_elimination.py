"""Terms dropped by the errors of their coefficients, beside the same steps written out with numpy."""

import json

import numpy as np
import pandas as pd
import pytest
from hpl_design import TERMS, measured
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.models.described_terms import FitOptions
from analyzer.models.study import study


def by_hand(columns: dict[str, np.ndarray], y: np.ndarray, largest: float) -> list[tuple[str, float]]:
    """(X^T X)^-1 each time; what was dropped and its relative error."""
    names, dropped = list(columns), []
    while True:
        matrix = np.column_stack([columns[name] for name in names])
        inverse = np.linalg.inv(matrix.T @ matrix)
        value = inverse @ matrix.T @ y
        left = y - matrix @ value
        errors = np.sqrt(left @ left / (len(y) - len(names)) * np.diag(inverse)) / np.abs(value)
        worst = int(errors.argmax())
        if len(names) == 1 or errors[worst] <= largest:
            return dropped
        dropped.append((names.pop(worst), float(errors[worst])))


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.3, 0.5]))
@settings(max_examples=20, deadline=None)
def test_the_steps_are_those_by_hand(seed, largest):
    random = np.random.default_rng(seed)
    columns = {name: random.uniform(1, 3, 30) for name in "abcd"}
    y = 5 + 2 * columns["a"] + random.standard_normal(30)
    every = {"1": np.ones(30), **columns}
    options = FitOptions(search="elimination", weighting="ordinary", coefficient_error=largest)
    found = study(pd.DataFrame({**columns, "y": y}), "y", list("abcd"), "{1,a,b,c,d}*", options)
    dropped = [(str(term), error) for term, error in found.selection.dropped]
    expected = by_hand(every, y, largest)
    assert [name for name, _ in dropped] == [name for name, _ in expected]
    assert [error for _, error in dropped] == pytest.approx([error for _, error in expected], rel=1e-6)
    assert set(found.model.terms) == set(every) - {name for name, _ in expected}


def test_planted_terms_are_left(tmp_path, capsys):
    random = np.random.default_rng(3)
    n, p = random.choice([100, 200, 400, 800], 60), random.choice([1, 2, 4, 8, 16], 60)
    time = (5 + 2e-6 * n**3 / p) * (1 + 0.02 * random.standard_normal(60))
    pd.DataFrame({"n": n, "p": p, "time": time}).to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", str(tmp_path / "t.csv"), "--terms", "{n,n^2,n^3},{1/p}", "--search", "elimination"]
    assert main([*words, "--coefficient-error", "0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["terms"] == ["1", "n^3/p"] and len(found["dropped"]) == 6 and found["models_tried"] == 7
    assert [len(one["terms"]) for one in found["per_size"]] == [2, 3, 4, 5, 6, 7, 8]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "terms were dropped" in said and "Importance" not in said and "hardly matter" not in said


def test_more_terms_than_rows():
    """Without freedom no error is known: the least certain coefficients still go first, until errors are known."""
    values, y = measured(20)
    frame = pd.DataFrame({**values, "time": y})
    found = study(frame, "time", list(values), TERMS, FitOptions(search="elimination"))
    assert 1 <= len(found.model.terms) <= 17
    assert all(error <= 0.5 for error in found.model.selected.standard_errors / abs(found.model.selected.coefficients))


def test_none_of_a_given_sign():
    """No coefficient is negative if none may be, also in one model of all terms."""
    frame = pd.DataFrame({"n": [1.0, 2, 3, 4, 5, 6, 7], "time": [10.0, 8, 7, 5.5, 4.2, 3, 2]})
    for search in ("none", "elimination"):
        found = study(frame, "time", ["n"], "{n}", FitOptions(search=search, non_negative=True, coefficient_error=5))
        assert (found.model.selected.coefficients >= 0).all()
