"""The pragmas of CALL and TIA, as Rodriguez 2011 has them (sections 2.1.1 and 2.3, Figs. 2.4, 2.5, 2.7, 3.7).

#pragma cll parallel MPI                the communication driver
#pragma cll uses Ganglia                an observable driver
#pragma cll NAME OBSERVABLE=expression  an experiment begins
#pragma cll end NAME                    it ends
#pragma cll report NAME                 its data may be written; also without "cll", as Fig. 2.4 prints it
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<sign>->|\S))")
KEYWORDS = ("parallel", "uses", "end", "report")


class PragmaError(Exception):
    """Error in a pragma.

    Attributes:
        at: Position of the error in the text.
    """

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Pragma:
    """Contents of one pragma.

    Attributes:
        kind: One of KEYWORDS, or "begin" for the begin of an experiment.
        name: Name of the experiment or driver.
        at: Position of the name in the text.
        observable: Observable of "begin".
        observable_at: Position of the observable in the text.
        variables: Variables of "begin", as C expressions without blanks.
    """

    kind: str  # one of KEYWORDS, or "begin"
    name: str  # of the experiment or driver
    at: int
    observable: str = ""  # of "begin"
    observable_at: int = 0
    variables: tuple[str, ...] = field(default=())  # C expressions, as they are written without blanks


@dataclass(frozen=True)
class _Token:
    kind: str  # "name", "number", "sign", "end"
    text: str
    at: int


def parse(text: str, said: str | None = None) -> Pragma | None:
    """Read a pragma from the text of a directive.

    Args:
        text: The directive in C.
        said: The directive as the program has it, if it is in another language; it has the same length as `text`.
            Variables are taken from it. None: as `text`.

    Returns:
        The pragma. None: the directive is no pragma of CALL or TIA.

    Raises:
        PragmaError: The pragma is wrong.
    """
    tokens = _Tokens(text, said or text)
    if [tokens.take().text, tokens.take().text] != ["#", "pragma"]:
        return None
    first = tokens.take()
    if first.text == "report":
        return _named("report", tokens)
    if first.text != "cll":
        return None
    word = tokens.take_name("parallel, uses, end, report, or the name of an experiment")
    if word.text in KEYWORDS:
        return _named(word.text, tokens)
    observable = tokens.take_name(f"the observable of {word.text}, as in {word.text} CLOCK={word.text}[0]*n")
    tokens.take_sign("=")
    variables = _Expression(tokens, word.text).variables()
    tokens.take_end()
    return Pragma("begin", word.text, word.at, observable.text, observable.at, variables)


def _named(kind: str, tokens: _Tokens) -> Pragma:
    what = "a driver" if kind in ("parallel", "uses") else "an experiment"
    name = tokens.take_name(f"the name of {what}")
    tokens.take_end()
    return Pragma(kind, name.text, name.at)


class _Tokens:
    """Words of a directive, which are taken one after the other."""

    def __init__(self, text: str, said: str) -> None:
        self.said = said
        found = [
            _Token(str(t.lastgroup), t[str(t.lastgroup)], t.start(str(t.lastgroup))) for t in _TOKEN.finditer(text)
        ]
        self._tokens = [*found, _Token("end", "", len(text.rstrip()))]
        self._next = 0

    @property
    def next(self) -> _Token:
        return self._tokens[self._next]

    def take(self) -> _Token:
        token = self.next
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def take_name(self, what: str) -> _Token:
        if self.next.kind != "name":
            self.fail(f"expected {what}")
        return self.take()

    def take_sign(self, sign: str) -> None:
        if self.next.text != sign:
            self.fail(f"expected {sign}")
        self.take()

    def take_end(self) -> None:
        if self.next.kind != "end":
            self.fail("expected the end of the line")

    def fail(self, message: str) -> None:
        here = f", not {self.next.text}" if self.next.text else ", and the line ends"
        raise PragmaError(message + here, self.next.at)


_DEEPEST = 100


class _Expression:
    """Right side of a pragma: C's arithmetic, of which only the variables matter."""

    def __init__(self, tokens: _Tokens, experiment: str) -> None:
        self._tokens, self._experiment = tokens, experiment
        self._found: dict[str, None] = {}
        self._depth = 0

    def variables(self) -> tuple[str, ...]:
        """Return each variable once, in order. `experiment[0]` is the coefficient of a term and no variable."""
        self._sum()
        return tuple(self._found)

    def _sum(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._tokens.fail("this is nested too deeply")
        self._factor()
        while self._tokens.next.text in ("+", "-", "*", "/", "%"):
            self._tokens.take()
            self._factor()
        self._depth -= 1

    def _factor(self) -> None:
        while self._tokens.next.text in ("+", "-"):
            self._tokens.take()
        token = self._tokens.next
        if token.kind == "number":
            self._tokens.take()
        elif token.text == "(":
            self._tokens.take()
            self._sum()
            self._tokens.take_sign(")")
        elif token.kind == "name" or token.text == "*":
            self._variable()
        else:
            self._tokens.fail("expected a variable, a number or (")

    def _variable(self) -> None:
        begin = self._tokens.next.at
        while self._tokens.next.text == "*":
            self._tokens.take()
        name = self._tokens.take_name("a variable")
        if self._tokens.next.text == "(":
            self._call()
            return
        while self._tokens.next.text in ("[", ".", "->"):
            if self._tokens.take().text == "[":
                self._index()
            else:
                self._tokens.take_name("a member")
        text = "".join(self._tokens.said[begin : self._tokens.next.at].split())
        if not re.fullmatch(rf"{re.escape(self._experiment)}\[\d+\]", text):
            if name.text == self._experiment:
                raise PragmaError(f"{text} is no coefficient such as {self._experiment}[0]", begin)
            self._found.setdefault(text)

    def _call(self) -> None:
        """Parse a call of a function. Its arguments are recorded; the function is not called again."""
        self._tokens.take()
        while self._tokens.next.text != ")":
            self._sum()
            if self._tokens.next.text != ",":
                break
            self._tokens.take()
        self._tokens.take_sign(")")

    def _index(self) -> None:
        """Parse an index. Its variables are not recorded, because they belong to the element that is recorded."""
        outside = dict(self._found)
        self._sum()
        self._found = outside
        self._tokens.take_sign("]")
