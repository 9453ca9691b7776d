"""Bodies of the calls that start, complete, look at and free requests."""

from csrc.generate.bodies.body import Body, decodes


@decodes("start", "startall")
def _start(body: Body) -> None:
    one = body.kind == "start"
    n = "1" if one else body.form.integer("count")
    handles = body.saved_handles(n, "request" if one else "array_of_requests")
    body.after = [f"record_start(&f, {handles}, {n});"]


def _record(body: Body, record: str) -> None:
    """Record completions. Waits always complete something, tests only if their flag is set."""
    if body.kind.startswith("wait"):
        body.after = [record]
    else:
        body.record_found(record)


@decodes("wait", "test")
def _one(body: Body) -> None:
    handles = body.saved_handles("1", "request")
    _record(body, f"record_wait(&f, {handles}[0], {body.own_status()});")


@decodes("waitall", "testall")
def _all(body: Body) -> None:
    n = body.form.integer("count")
    _record(body, f"record_waitall(&f, {body.saved_handles(n)}, {n}, {body.own_status(n)});")


def _index_base(body: Body, call: str, n: str, index: str) -> str:
    """Return the index of the first request: 0 in C, 1 in Fortran; an MPI's mpi_f08 is tested."""
    f = body.form
    if not f.fortran:
        return "0"
    return f"index_base(INDEX_{call}, array_of_requests, handles, {n}, {index})" if f.f08 else "1"


@decodes("waitany", "testany")
def _any(body: Body) -> None:
    f = body.form
    n, index = f.integer("count"), f"read_int({f.pick('index', 'indx')}, MPI_UNDEFINED_VALUE)"
    base = _index_base(body, "ANY", n, index)
    _record(body, f"record_waitany(&f, {body.saved_handles(n)}, {n}, {index}, {base}, {body.own_status()});")


@decodes("waitsome", "testsome")
def _some(body: Body) -> None:
    n, completed = body.form.integer("incount"), "read_int(outcount, 0)"
    base = _index_base(body, "SOME", n, "read_int(array_of_indices, MPI_UNDEFINED_VALUE)")
    indices = f"{completed}, (int *)array_of_indices, {base}"
    record = f"record_waitsome(&f, {body.saved_handles(n)}, {n}, {indices}, {body.own_status(n)});"
    if body.kind == "waitsome":
        body.after = [record]
    else:
        body.after = [f"if ({completed} == 0 && !f.result) record_poll(&f);", f"else {record}"]


@decodes("poll_only")
def _poll_only(body: Body) -> None:
    found = "outcount" if body.form.has("outcount") else "flag"
    body.record_found("record_timed(&f, abi.comm_null);", f"read_int({found}, 0)")


@decodes("asked")
def _asked(body: Body) -> None:
    body.after = [f"record_asked(&f, {body.comm}, __builtin_frame_address(0));"]


@decodes("cancel")
def _cancel(body: Body) -> None:
    body.after = [f"record_cancel(&f, {body.saved_handles('1', 'request')}[0]);"]


@decodes("request_free")
def _free(body: Body) -> None:
    handles = body.saved_handles("1", "request")
    body.before.append(f"const void *status_ = status_before_free({handles}[0]);")
    body.after = [f"record_request_free(&f, {handles}[0], status_);"]
