"""places/python.h in random programs, in every CPython on the PATH, against what Python itself says."""

from hypothesis import given, settings
from hypothesis import strategies as st
from pythons import python_fixture

python = python_fixture()


def programs() -> st.SearchStrategy[str]:
    """Random programs of functions in classes in loops in lambdas ..., which call C at random places."""
    calls = st.sampled_from(["look(here)", "look_held(here)", "look(\n here\n)"])
    values = st.recursive(
        calls,
        lambda inner: st.one_of(
            st.builds("({},\n{})".format, inner, inner),
            st.builds("[{} for _ in range(2)]".format, inner),
            st.builds("sum(0 * bool({}) for _ in (1, 2))".format, inner),
            st.builds("(lambda x=1: {})()".format, inner),
            st.builds("({}\n if {} else 0)".format, inner, inner),
            st.builds("sorted([1, 2], key=lambda x: bool({}))".format, inner),
        ),
        max_leaves=4,
    )
    lines = st.one_of(values, st.builds("x = [\n{},\n\n{}]".format, values, values))
    blocks = st.recursive(
        lines.map(lambda line: [line]),
        lambda inner: st.builds(
            _block, st.sampled_from(sorted(HEADS)), st.lists(inner, min_size=1, max_size=3), gaps()
        ),
        max_leaves=6,
    )
    return st.lists(blocks, min_size=1, max_size=4).map(
        lambda parts: "\n".join(line for part in parts for line in part)
    )


def gaps() -> st.SearchStrategy[int]:
    """Empty lines, from none to more than one step of a table of lines can say."""
    return st.sampled_from([0, 0, 1, 5, 130, 300])


HEADS = {
    "def f(n=1):": ["f()"],
    "def g(n=2):": ["g()"],
    "def r(n, again):\n if n: return again(n - 1, again)": ["r(2, r)"],
    "def y():\n yield 1": ["list(y())"],
    "async def a():": ["try: a().send(None)", "except StopIteration: pass"],
    "class A:": [],
    "class A:\n def __init__(self):": ["A()"],
    "for i in (1, 2):": [],
    "if True:": [],
    "try:": ["finally:", " look(here)"],
    "try:\n 1 / 0\nexcept ZeroDivisionError as e:": [],
    "with open('/dev/null') as d:": [],
    "@(lambda f: (look(here), f)[1])\ndef d():": ["d()"],
}
"""Heads of blocks, and the lines that follow them."""


def _block(head: str, inner: list[list[str]], gap: int) -> list[str]:
    heads = head.split("\n")
    indent = " " * (len(heads[-1]) - len(heads[-1].lstrip()) + heads[-1].endswith(":"))
    body = [indent + line.replace("\n", "\n" + indent) for part in inner for line in part]
    return [*heads, *[""] * gap, *body, *HEADS[head]]


@given(source=programs())
@settings(max_examples=60)
def test_random_programs(python, source):
    assert python.looks(source, "random") >= 1
