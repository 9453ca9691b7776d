"""The lines by which a wrapper decodes a call on a window or a file."""

from csrc.generate import semantics
from csrc.generate.forms import Form


def window(f: Form, kind: str) -> tuple[list[str], list[str]]:
    """Lines before and after the calls that make, free and poll a window, and of one-sided operations."""
    name = f.procedure.name.removeprefix("MPI_")
    if kind == "win_create":
        size, unit = (f.wide("size"), f.integer("disp_unit")) if f.has("size") else ("0", "1")
        flavor, win = semantics.WINDOW_FLAVORS[name], f.new_handle("win", "win")
        return [], [f"record_win_created(&f, {flavor}, {size}, (uint32_t){unit}, {f.comm()}, {win});"]
    if kind == "win_free":
        find = f"objects_find(OBJECTKIND_WINDOW, {f.new_handle('win', 'win')})"
        return [f"const struct object *object_ = {find};"], ["record_object_freed(&f, object_);"]
    win = f.handle("win", "win")
    if kind == "win_test":
        record = f"record_win(&f, {win}, PEER_NONE, 0);"
        return [], [f"if (read_int(flag, 0) || f.result) {record}", "else record_poll(&f);"]
    request = f.new_handle("request", "request") if f.has("request") else ""
    sides = semantics.ONE_SIDED[name[1:].capitalize() if request else name]
    sent, taken = map(f.moved, sides)
    if f.has("op") and sent != "no_data()":
        sent = f"unless_no_op({f.handle('op', 'op')}, {sent})"
    arguments = f"{win}, {sent}, {taken}, {f.integer('target_rank')}, {f.wide('target_disp')}"
    record = f"record_rma_request(&f, {arguments}, {request});" if request else f"record_rma(&f, {arguments});"
    return [], [record]


def file(f: Form, kind: str) -> tuple[list[str], list[str]]:
    """Lines before and after the calls that open and close a file and set its view."""
    if kind == "file_open":
        opened = "abi_file_f2c((int *)fh)" if f.fortran else "abi_file((void *)fh)"
        return [], [f"record_file_opened(&f, {f.comm()}, {f.text('filename')}, {f.integer('amode')}, {opened});"]
    if kind == "file_close":
        closed = "abi_file_f2c((int *)fh)" if f.fortran else "abi_file((void *)fh)"
        find = f"objects_find(OBJECTKIND_FILE, {closed})"
        return [f"const struct object *object_ = {find};"], ["record_object_freed(&f, object_);"]
    types = f"{f.handle('etype', 'type')}, {f.handle('filetype', 'type')}"
    native = f"is_native({f.text('datarep')})"
    return [], [f"record_file_view(&f, {f.file()}, {f.wide('disp')}, {types}, {native});"]


def transfer(f: Form, replaced: dict[str, str]) -> tuple[list[str], list[str]]:
    """Lines before and after a call that reads or writes a file; `replaced` gets the status that is passed to MPI."""
    does = semantics.transfer_of(f.procedure.name)
    place = {"offset": f"io_at({f.file()}, {f.wide('offset')})", "pointer": f"io_position({f.file()})", "shared": "-1"}
    where = f"io_split({f.file()})" if does.phase == "end" else place[does.place]
    before = [f"const int64_t at_ = {where};"]
    arguments = f"{f.file()}, {does.direction}"
    match does.phase:
        case "begin":
            after = [f"record_io_begin(&f, {f.file()}, at_);"]
        case "request":
            data, request = f.data("buf", "count", "datatype"), f.new_handle("request", "request")
            after = [f"record_io_request(&f, {arguments}, {data}, at_, {request});"]
        case _:
            before.append(f"void *status_ = io_status(t, status, {f.ignored('status')});")
            replaced["status"] = "(word)status_"
            after = [f"record_io(&f, {arguments}, at_, status_);"]
    return before, after


def of_window(f: Form) -> str:
    """Any other call on a window: its target or group, its lock and assertion, the memory that it attaches."""
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
    """Any other call on a file."""
    name = "fh" if f.has("fh") else "file"
    place = semantics.FILE_PLACES.get(f.procedure.name, "-1")
    numbers = {n: f.wide(n) for n in ("size", "offset") if f.has(n)}
    return f"record_file(&f, {f.file(name)}, {place.format(file=f.file(name), **numbers)});"
