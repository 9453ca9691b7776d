"""The body of a call of which no more is known than its times, its object and the request that it posts."""

from csrc.generate.bodies import accesses
from csrc.generate.bodies.body import Body, decodes


@decodes("timed")
def timed(body: Body) -> None:
    """Write a call on a window or a file, one that posts a request, or any other."""
    f = body.form
    types = {a.name.lower(): a.type for a in f.procedure.parameters}
    if types.get("win") == "MPI_Win":
        body.after = [accesses.of_window(f)]
    elif "MPI_File" in (types.get("fh"), types.get("file")):
        body.after = [accesses.of_file(f)]
    else:
        comm = f.comm() if types.get("comm") == "MPI_Comm" else "abi.comm_null"
        request = types.get("request") == "MPI_Request*"
        posted = f"record_other_request(&f, {comm}, {f.new_handle('request', 'request')});" if request else ""
        body.after = [posted or f"record_timed(&f, {comm});"]
