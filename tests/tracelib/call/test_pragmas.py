"""CALL's pragmas: what each says, and where one that is wrong is wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelib.call.pragmas import PragmaError, parse

SAID = {
    "#pragma cll parallel MPI": ("parallel", "MPI", "", ()),
    "#pragma cll uses Ganglia": ("uses", "Ganglia", "", ()),
    "#pragma cll end ng": ("end", "ng", "", ()),
    "#pragma cll report e": ("report", "e", "", ()),
    "#pragma report exp_name": ("report", "exp_name", "", ()),  # Fig. 2.4, line 15
    " # pragma  cll exp_name CLOCK=exp_name[0]*var1*var2": ("begin", "exp_name", "CLOCK", ("var1", "var2")),  # line 10
    "#pragma cll gan_exp GANGLIA_MPI=gan_exp[0]": ("begin", "gan_exp", "GANGLIA_MPI", ()),  # Fig. 2.5
    "#pragma cll mm CLOCK = mm[0] + mm[1]*n*n/p - mm[2]*n": ("begin", "mm", "CLOCK", ("n", "p")),
    "#pragma cll e CLOCK=e[0]*grid.n*p->size*v[i + 1]": ("begin", "e", "CLOCK", ("grid.n", "p->size", "v[i+1]")),
    "#pragma cll e CLOCK=e[0]*log2(n)*pow(m, 2e-3) % (k + -q)": ("begin", "e", "CLOCK", ("n", "m", "k", "q")),
    "#pragma cll e CLOCK=e[0]*(*n)": ("begin", "e", "CLOCK", ("*n",)),
    "#pragma cll e CLOCK=2.5": ("begin", "e", "CLOCK", ()),
    "#pragma omp parallel for": None,
    "#include <cll>": None,
    "#pragma": None,
}


@pytest.mark.parametrize("text", SAID)
def test_what_a_pragma_says(text):
    found = parse(text)
    wanted = SAID[text]
    assert (found and (found.kind, found.name, found.observable, found.variables)) == wanted
    assert found is None or text[found.at :].startswith(found.name)


WRONG = {  # what is wrong, and before which character
    "#pragma cll": ("expected parallel, uses, end, report, or the name", 11),
    "#pragma cll 3": ("or the name of an experiment, not 3", 12),
    "#pragma cll end": ("expected the name of an experiment, and the line ends", 15),
    "#pragma cll end a b": ("expected the end of the line, not b", 18),
    "#pragma cll e": ("expected the observable of e", 13),
    "#pragma cll e CLOCK": ("expected =", 19),
    "#pragma cll e CLOCK=": ("expected a variable, a number or (", 20),
    "#pragma cll e CLOCK=e[0]*": ("expected a variable, a number or (", 25),
    "#pragma cll e CLOCK=(n": ("expected ), and the line ends", 22),
    "#pragma cll e CLOCK=n m": ("expected the end of the line, not m", 22),
    "#pragma cll e CLOCK=v[": ("expected a variable, a number or (", 22),
    "#pragma cll e CLOCK=a.3": ("expected the end of the line, not .3", 21),
    "#pragma cll e CLOCK=e*n": ("e is no coefficient such as e[0]", 20),
    "#pragma cll e CLOCK=e[n]": ("e[n] is no coefficient", 20),
    "#pragma cll uses 'x'": ("expected the name of a driver, not '", 17),
    "#pragma cll e CLOCK=" + "(" * 200: ("nested too deeply", 120),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_and_where(text):
    message, at = WRONG[text]
    with pytest.raises(PragmaError) as raised:
        parse(text)
    assert message in str(raised.value) and raised.value.at == at


VARIABLES = st.sampled_from(["n", "m1", "_p", "grid.n", "q->next->n", "a[3]", "a[i].b"])


@settings(max_examples=80)
@given(st.lists(st.lists(VARIABLES, max_size=3), min_size=1, max_size=5), st.sampled_from("+-"))
def test_any_sum_of_products(terms, sign):
    """Each variable once, in the order of its first place."""
    text = sign.join("*".join([f"e[{number}]", *term]) for number, term in enumerate(terms))
    found = parse(f"#pragma cll e CLOCK={text}")
    assert found.variables == tuple(dict.fromkeys(variable for term in terms for variable in term))


@settings(max_examples=150)
@given(st.text(st.sampled_from("ecnd[]()*+-=. >0CLK"), max_size=30))
def test_any_text_is_said_or_wrong_at_a_place_of_it(text):
    line = "#pragma cll " + text
    try:
        parse(line)
    except PragmaError as error:
        assert 0 <= error.at <= len(line)
