"""Bodies of collectives, and of the calls that make, name and free communicators and groups."""

from csrc.generate import semantics
from csrc.generate.bodies.body import Body, decodes
from csrc.generate.bodies.timed import timed


@decodes("collective", "icollective", "collective_init")
def _collective(body: Body) -> None:
    f = body.form
    root = f.integer("root") if f.has("root") else "0"
    moved = f"SHAPE_{semantics.shape_of(f.procedure.name)}, {f.side('send')}, {f.side('recv')}, {root}, {body.comm}"
    request = f", {f.new_handle('request', 'request')}" if body.kind != "collective" else ""
    body.after = [f"record_{body.kind}(&f, {moved}{request});"]


@decodes("comm_create")
def _comm_create(body: Body) -> None:
    f = body.form
    new = f.pick("newcomm", "comm_cart", "comm_graph", "comm_dist_graph", "newintracomm")
    parent = f.comm(f.pick("comm", "comm_old", "intercomm"))
    body.after = [f"record_comm_created(&f, {parent}, {f.new_handle(new, 'comm')});"]


@decodes("intercomm_create")
def _intercomm_create(body: Body) -> None:
    body.after = [f"record_comm_created(&f, abi.comm_null, {body.form.new_handle('newintercomm', 'comm')});"]


@decodes("comm_idup")
def _comm_idup(body: Body) -> None:
    f = body.form
    made = f"(void *)newcomm, {str(f.fortran).lower()}, {f.new_handle('request', 'request')}"
    body.after = [f"record_comm_idup(&f, {body.comm}, {made});"]


@decodes("comm_connect")
def _comm_connect(body: Body) -> None:
    f = body.form
    new = f.new_handle(f.pick("newcomm", "intercomm"), "comm")
    body.after = [f"record_comm_connected(&f, {body.comm}, {new});"]


@decodes("comm_join")
def _comm_join(body: Body) -> None:
    body.after = [f"record_comm_connected(&f, abi.comm_null, {body.form.new_handle('intercomm', 'comm')});"]


@decodes("comm_parent")
def _comm_parent(body: Body) -> None:
    body.after = [f"record_comm_found(&f, {body.form.new_handle('parent', 'comm')});"]


@decodes("comm_named")
def _comm_named(body: Body) -> None:
    """Record a communicator made from a group, whose members have nothing but a string in common."""
    f = body.form
    new = f.new_handle(f.pick("newcomm", "newintercomm"), "comm")
    body.after = [f"if (!f.result) comms_named({new}, {f.text('stringtag')});"]
    if f.has("newcomm"):
        body.after += [f"if (!f.result) run_session_joined({new});", "CALLED;"]
    body.after.append(f"record_timed(&f, {new});")


@decodes("comm_name")
def _comm_name(body: Body) -> None:
    body.after = [f"record_comm_name(&f, {body.comm}, {body.form.text('comm_name')});"]


@decodes("comm_free")
def _comm_free(body: Body) -> None:
    body.before = [
        f"const word comm_ = {body.form.new_handle('comm', 'comm')};",
        "const uint32_t index_ = comms_index(comm_);",
    ]
    body.after = ["record_comm_free(&f, index_, comm_);"]


@decodes("group_free")
def _group_free(body: Body) -> None:
    body.before = [f"groups_forget({body.form.new_handle('group', 'group')});"]
    timed(body)
