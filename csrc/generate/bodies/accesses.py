"""Bodies of the calls on windows and files."""

from csrc.generate import semantics
from csrc.generate.bodies.body import Body, decodes
from csrc.generate.forms import Form


@decodes("win_create")
def _win_create(body: Body) -> None:
    f = body.form
    size, unit = (f.wide("size"), f.integer("disp_unit")) if f.has("size") else ("0", "1")
    flavor = semantics.TABLE.kinds["win_create"].details["flavors"][f.procedure.name.removeprefix("MPI_")]
    win = f.new_handle("win", "win")
    body.after = [f"record_win_created(&f, {flavor}, {size}, (uint32_t){unit}, {f.comm()}, {win});"]


@decodes("win_free")
def _win_free(body: Body) -> None:
    _freed(body, "WINDOW", body.form.new_handle("win", "win"))


def _freed(body: Body, kind: str, handle: str) -> None:
    """Record a freed object, before the call: the call sets its handle to null."""
    body.before = [f"const struct object *object_ = objects_find(OBJECTKIND_{kind}, {handle});"]
    body.after = ["record_object_freed(&f, object_);"]


@decodes("win_test")
def _win_test(body: Body) -> None:
    body.record_found(f"record_win(&f, {body.form.handle('win', 'win')}, PEER_NONE, 0);")


@decodes("rma")
def _one_sided(body: Body) -> None:
    f = body.form
    request = f.new_handle("request", "request") if f.has("request") else ""
    sides = semantics.TABLE.kinds["rma"].details["moves"][f.procedure.name.removeprefix("MPI_")]
    sent, taken = map(f.moved, sides)
    if f.has("op") and sent != "no_data()":
        sent = f"unless_no_op({f.handle('op', 'op')}, {sent})"
    win, target = f.handle("win", "win"), f"{f.integer('target_rank')}, {f.wide('target_disp')}"
    arguments = f"{win}, {sent}, {taken}, {target}"
    body.after = [f"record_rma_request(&f, {arguments}, {request});" if request else f"record_rma(&f, {arguments});"]


@decodes("file_open")
def _file_open(body: Body) -> None:
    f = body.form
    opened = f"{f.text('filename')}, {f.integer('amode')}, {_file_handle(f)}"
    body.after = [f"record_file_opened(&f, {f.comm()}, {opened});"]


def _file_handle(f: Form) -> str:
    """Return the handle that the call has written, or is about to set to null."""
    return "abi_file_f2c((int *)fh)" if f.fortran else "abi_file((void *)fh)"


@decodes("file_close")
def _file_close(body: Body) -> None:
    _freed(body, "FILE", _file_handle(body.form))


@decodes("file_view")
def _file_view(body: Body) -> None:
    f = body.form
    types = f"{f.handle('etype', 'type')}, {f.handle('filetype', 'type')}"
    native = f"is_native({f.text('datarep')})"
    body.after = [f"record_file_view(&f, {f.file()}, {f.wide('disp')}, {types}, {native});"]


@decodes("io")
def _transfer(body: Body) -> None:
    """Record a call that reads or writes a file, or half of one that is split."""
    f = body.form
    does = semantics.transfer_of(f.procedure.name)
    place = {"offset": f"io_at({f.file()}, {f.wide('offset')})", "pointer": f"io_position({f.file()})", "shared": "-1"}
    where = f"io_split({f.file()})" if does.phase == "end" else place[does.place]
    body.before = [f"const int64_t at_ = {where};"]
    arguments = f"{f.file()}, {does.direction}"
    match does.phase:
        case "begin":
            body.after = [f"record_io_begin(&f, {f.file()}, at_);"]
        case "request":
            data, request = f.data("buf", "count", "datatype"), f.new_handle("request", "request")
            body.after = [f"record_io_request(&f, {arguments}, {data}, at_, {request});"]
        case _:
            body.before.append(f"void *status_ = io_status(t, status, {f.ignored('status')});")
            body.replaced["status"] = "(word)status_"
            body.after = [f"record_io(&f, {arguments}, at_, status_);"]


def of_window(f: Form) -> str:
    """Record any other call on a window: its target or group, its lock and assertion, the memory that it attaches."""
    if f.procedure.name in ("MPI_Win_attach", "MPI_Win_detach"):
        return f"record_win_memory(&f, {f.handle('win', 'win')}, base);"
    peer = f"abi_peer({f.integer('rank')})" if f.has("rank") else "PEER_NONE"
    details = [f"abi_lock({f.integer('lock_type')})"] if f.has("lock_type") else []
    details += [f"abi_assertions({f.integer('assert')})"] if f.has("assert") else []
    detail = " | ".join(details) or "0"
    if f.procedure.name in ("MPI_Win_start", "MPI_Win_post"):
        return f"record_win_group(&f, {f.handle('win', 'win')}, {f.handle('group', 'group')}, {detail});"
    return f"record_win(&f, {f.handle('win', 'win')}, {peer}, {detail});"


def of_file(f: Form) -> str:
    """Record any other call on a file."""
    name = "fh" if f.has("fh") else "file"
    place = semantics.TABLE.file_places.get(f.procedure.name.removeprefix("MPI_"), "-1")
    numbers = {n: f.wide(n) for n in ("size", "offset") if f.has(n)}
    return f"record_file(&f, {f.file(name)}, {place.format(file=f.file(name), **numbers)});"
