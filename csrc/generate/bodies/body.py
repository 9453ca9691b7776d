"""The body of a wrapper, the C around its call of MPI, and the registry of functions that make it for each kind."""

from collections.abc import Callable
from dataclasses import dataclass, field

from csrc.generate import semantics
from csrc.generate.forms import Form


@dataclass
class Body:
    """The lines before the call, the arguments that are replaced in it, and the lines after it."""

    form: Form
    kind: str
    before: list[str] = field(default_factory=list)
    replaced: dict[str, str] = field(default_factory=dict)
    after: list[str] = field(default_factory=list)

    @property
    def comm(self) -> str:
        """The communicator of the call."""
        return self.form.comm() if self.form.has("comm") else "abi.comm_null"

    def own_status(self, n: str = "1") -> str:
        """Return the status, or the n statuses, that MPI fills: the program's, or ours if it ignores them."""
        f = self.form
        name = "array_of_statuses" if f.has("array_of_statuses") else "status"
        handles = ", &handles" if n != "1" else ", NULL"
        self.before.append(f"void *status_ = status_buffer(t, {name}, {f.ignored(name)}, {n}{handles});")
        self.replaced[name] = "(word)status_"
        return "status_"

    def saved_handles(self, n: str, array: str = "array_of_requests") -> str:
        """Save the n requests as they were before the call, which sets those that it completes to null."""
        save = f"save_handles(t, {array}, {n}, LANGUAGE_{self.form.language})"
        self.before.append(f"const struct held_request *handles = {save};")
        return "handles"

    def record_found(self, record: str, found: str = "read_int(flag, 0)") -> None:
        """Record a call that looks for something: as a poll where it finds nothing."""
        self.after += [f"if ({found} || f.result) {record}", "else record_poll(&f);"]


Decoder = Callable[[Body], None]
_DECODERS: dict[str, Decoder] = {}


def decodes(*kinds: str) -> Callable[[Decoder], Decoder]:
    """Mark the function that fills the body of these kinds of procedures (tracelib/schema/procedures.toml)."""

    def register(decoder: Decoder) -> Decoder:
        for kind in kinds:
            if kind in _DECODERS:
                raise ValueError(f"{kind} is decoded twice")
            _DECODERS[kind] = decoder
        return decoder

    return register


def body_of(form: Form) -> Body:
    """Make the body of a wrapper. Raises KeyError for a kind that no function decodes."""
    kind = semantics.kind_of(form.procedure.name)
    body = Body(form, kind)
    _DECODERS[kind](body)
    return body
