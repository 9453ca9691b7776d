"""The forms in which programs call a procedure (C, large counts, Fortran), and how their arguments are read."""

from dataclasses import dataclass

from csrc.generate import semantics
from csrc.generate.standard import Procedure


@dataclass(frozen=True)
class Form:
    """One language's form of a procedure: its symbol and how its arguments are read."""

    procedure: Procedure
    symbol: str
    names: tuple[str, ...]  # of its arguments
    language: str  # C, C_LARGE or FORTRAN
    real_names: tuple[str, ...]
    f08: bool = False

    @property
    def fortran(self) -> bool:
        return self.language == "FORTRAN"

    @property
    def slot(self) -> str:
        return f"SLOT_{self.symbol}"

    def has(self, name: str) -> bool:
        return name in self.names

    def pick(self, *candidates: str) -> str:
        """Return the first of these arguments that the procedure has."""
        return next(n for n in candidates if n in self.names)

    def integer(self, name: str) -> str:
        return f"fortran_int({name})" if self.fortran else f"(int){name}"

    def wide(self, name: str) -> str:
        """Return an MPI_Aint, MPI_Count or MPI_Offset."""
        return f"fortran_wide({name})" if self.fortran else f"(int64_t){name}"

    def handle(self, name: str, kind: str) -> str:
        """Return a handle passed by value: a type, group, op, window or request."""
        return f"abi_{kind}_f2c((int *){name})" if self.fortran else f"abi_value({name})"

    def file(self, name: str = "fh") -> str:
        return f"abi_file_f2c((int *){name})" if self.fortran else name

    def text(self, name: str) -> str:
        """Return address and length of a string. Fortran passes the lengths behind all other arguments."""
        if not self.fortran:
            return f"(const char *){name}, text_length({name})"
        strings = [a.name.lower() for a in self.procedure.parameters if a.type.startswith("char")]
        return f"(const char *){name}, (size_t)length{strings.index(name)}"

    def comm(self, name: str = "comm") -> str:
        return f"abi_comm_f2c((int *){name})" if self.fortran else f"abi_value({name})"

    def new_handle(self, name: str, kind: str) -> str:
        """Return a handle that the call has written."""
        return f"abi_{kind}_f2c((int *){name})" if self.fortran else f"abi_handle((void *){name})"

    def ignored(self, name: str) -> str:
        if self.fortran:
            return f"abi_fortran_status_ignored({name})"
        return f"{name} == abi.{'statuses' if name == 'array_of_statuses' else 'status'}_ignore"

    def data(self, address: str, count: str, type_: str) -> str:
        return f"(struct data){{{address}, {count}, {type_}, LANGUAGE_{self.language}}}"

    def element(self) -> str:
        """Return one element of `datatype`."""
        return self.data("0", "(word)&one_element" if self.fortran else "1", "datatype")

    def moved(self, side: str) -> str:
        """Return the struct data of one side of a one-sided operation: origin, result, element or none."""
        if side == "element":
            return self.element()
        return self.data(f"{side}_addr", f"{side}_count", f"{side}_datatype") if side else "no_data()"

    def side(self, side: str) -> str:
        """Return the struct data of the `send` or `recv` side of a collective."""
        if self.has("buffer"):
            return self.data("buffer", "count", "datatype") if side == "send" else "no_data()"
        if not self.has(f"{side}buf"):
            return "no_data()"
        counts = [f"{side}counts", f"{side}count", "count", "recvcounts", "recvcount"]
        types = [f"{side}types", f"{side}type", "datatype"]
        return self.data(f"{side}buf", self.pick(*counts), self.pick(*types))


def forms(p: Procedure) -> list[Form]:
    """Return all symbols to define for a procedure."""
    found = [Form(p, p.name, tuple(a.name for a in p.parameters), "C", (f"P{p.name}",))]
    if p.large is not None:
        found.append(Form(p, f"{p.name}_c", tuple(a.name for a in p.large), "C_LARGE", (f"P{p.name}_c",)))
    if p.fortran is not None:
        low = p.name.lower()
        names = p.fortran + tuple(f"length{i}" for i in range(p.hidden_lengths))
        found.append(Form(p, f"{low}_", names, "FORTRAN", (f"p{low}_", f"p{low}__", f"p{low}")))
        found.append(
            Form(p, f"{low}_f08_", names, "FORTRAN", (f"p{low}_f08_", f"pmpir{low[3:]}_f08_", f"{low}_f08_"), f08=True)
        )
    return [f for f in found if f.symbol not in semantics.LEFT_OUT and p.name not in semantics.LEFT_OUT]
