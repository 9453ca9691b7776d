"""Bodies of the calls that begin and end MPI, and of MPI_Pcontrol."""

from csrc.generate.bodies.body import Body, decodes


@decodes("init")
def _init(body: Body) -> None:
    body.after = ["if (!f.result) run_started();", "CALLED;", "record_timed(&f, abi.comm_null);"]


@decodes("finalize")
def _finalize(body: Body) -> None:
    body.after = [
        "f.enter = entered;",
        "record_timed(&f, abi.comm_null);",
        "record_open_receives(&f);",
        "run_finalized();",
    ]


@decodes("session_init")
def _session_init(body: Body) -> None:
    opened = f"if (!f.result) run_session_opened({body.form.new_handle('session', 'session')});"
    body.after = [opened, "CALLED;", "record_timed(&f, abi.comm_null);"]


@decodes("session_finalize")
def _session_finalize(body: Body) -> None:
    body.before = [f"run_session_closing({body.form.new_handle('session', 'session')});"]
    body.after = ["record_timed(&f, abi.comm_null);", "run_session_closed();"]


@decodes("pcontrol")
def _pcontrol(body: Body) -> None:
    body.after = [f"record_pcontrol(&f, {body.form.integer('level')});"]
