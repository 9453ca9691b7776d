"""The language of terms: the counts of the thesis, one form for each term, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import TracelibError
from analyzer.models.terms.language import candidates
from analyzer.models.terms.parsing import parse
from analyzer.models.terms.product import Product
from analyzer.models.terms.writing import in_latex, in_python

NAMES = {"n": 7.0, "p": 3.0, "message_size": 100.0}


@pytest.mark.parametrize(
    ("description", "models"),
    [
        ("{n, n^2}, {1/p}", 63),
        ("{n,n^2},{1/p},{n*p}*", 127),
        ("{1/P,P},{N,1/N,ceil(P/N)}", 4095),
        ("{nzpr},{P,1/P}", 63),
        ("{nzpr},{P,1/P,log2(P)}", 255),
        ("{n_s},{m_s},{P,ceil(log2(P)),floor(log2(P))}", 65535),
        ("{N^2,N^3},{1/NB},{1/P},{1/Q}", 16777215),
        ("{it,it^2,it^3,it^4,it^5}", 63),
        ("{N/P},{N^2,N}", 63),
    ],
)
def test_the_counts_of_the_thesis(description, models):
    """TIA 1.6.2, 4.4 to 4.9; CG with log2 P is 4 x 2 = 8 terms."""
    assert 2 ** len(candidates(description)) - 1 == models


def test_the_terms_of_the_worked_example_in_its_order():
    """TIA 1.6.2, example 1."""
    assert [str(term) for term in candidates("{n,n^2},{1/p}")] == ["1", "n", "n^2", "1/p", "n/p", "n^2/p"]


def test_a_term_that_is_there_twice_is_one():
    """Case B of the matrix product: N and (N/P) P (TIA 1.6.2, the defect)."""
    terms = [str(term) for term in candidates("{N/P},{N,P}")]
    assert len(terms) == len(set(terms)) == 5  # 1, N, P, N/P, N^2/P; (N/P) P is N
    assert "N^2/P" in terms


def test_degree_limits_the_groups_of_a_product():
    assert [str(term) for term in candidates("{a},{b},{c}", degree=2)] == ["1", "a", "b", "a*b", "c", "a*c", "b*c"]
    assert [str(term) for term in candidates("{a},{b},{a*b*c}*", degree=1)] == ["1", "a", "b", "a*b*c"]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("n*n/p", "n^2/p"),
        ("(n/p)*p", "n"),
        ("sqrt(n)", "n^0.5"),
        ("n**(1/3)", "cbrt(n)"),
        ("n²·p", "p*n*n"),
        ("(n-1)*(p+1)", "(1+p)*(-1+n)"),
        ("max(n,p)", "max(p,n)"),
    ],
)
def test_one_form_for_all_ways_to_write_a_term(text, same):
    assert parse(text) == parse(same)


def test_logarithms_to_any_base_are_one_term_and_keep_their_value():
    for text, value in (("log2(n)", math.log2(7)), ("log10(n)", math.log10(7)), ("log(n^2)", 2 * math.log(7))):
        assert parse(text).value(NAMES) == pytest.approx(value)
        assert parse(text).term == parse("log2(n)")


@pytest.mark.parametrize(
    "text",
    ["", "n^n", "n/0", "0", "a.b", "f(n)", "__import__('os')", "lambda: 1", "2**", "n if p else 1", "[n]", "n" * 500,
     "(" * 150 + "n" + "+" * 150, "9^100^100", "n=1", "log2(0)", "min(n)", "(0-2)^0.5", "n-n"],
)  # fmt: skip
def test_what_is_no_term_is_refused_in_one_line(text):
    with pytest.raises(TracelibError) as error:
        parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "n", "{n", "{n}}", "{n},,{p}", "{n},", "{}", "{n}{p}", "{n}**"])
def test_what_is_no_description_is_refused(text):
    with pytest.raises(TracelibError):
        candidates(text)


def test_too_many_terms_are_refused():
    group = "{" + ",".join(f"n^{k}" for k in range(1, 20)) + "}"
    with pytest.raises(TracelibError, match="4096"):
        candidates(",".join(group.replace("n", name) for name in "abc"))


powers = st.fractions(-3, 3, max_denominator=4).filter(bool)
atoms = st.sampled_from(["n", "p", "log2(n)", "ceil(n/p)", "floor(log2(p))", "(n + p)", "min(n, 2*p)", "message_size"])


@given(st.lists(st.tuples(atoms, powers), min_size=1, max_size=5))
def test_what_is_written_is_read_again_and_has_the_same_value(parts):
    product, value = Product(), 1.0
    for text, power in parts:
        product = product.times(parse(text), Fraction(power))
        value *= float(parse(text).value(NAMES)) ** float(power)
    assert parse(str(product)) == product
    assert product.value(NAMES) == pytest.approx(value)
    assert eval(in_python(product), {"math": math}, NAMES) == pytest.approx(value)
    assert in_latex(product).count("{") == in_latex(product).count("}")


def test_values_of_columns():
    found = parse("ceil(log2(p))*n").value({"n": np.array([1.0, 2.0]), "p": np.array([5.0, 8.0])})
    assert found.tolist() == [3.0, 6.0]
