"""Bodies of sends, receives, probes, and of what is made of several partitions."""

from csrc.generate.bodies.body import Body, decodes
from csrc.generate.forms import Form


def _send_data(f: Form) -> str:
    return f.data(f.pick("buf", "sendbuf"), f.pick("count", "sendcount"), f.pick("datatype", "sendtype"))


def _receive_data(f: Form) -> str:
    return f.data(f.pick("recvbuf", "buf"), f.pick("recvcount", "count"), f.pick("recvtype", "datatype"))


@decodes("send")
def _send(body: Body) -> None:
    f = body.form
    body.after = [f"record_send(&f, &{_send_data(f)}, {f.integer('dest')}, {f.integer('tag')}, {body.comm});"]


@decodes("recv")
def _recv(body: Body) -> None:
    body.after = [f"record_recv(&f, {body.comm}, {body.own_status()});"]


@decodes("sendrecv")
def _sendrecv(body: Body) -> None:
    f = body.form
    sent = f"&{_send_data(f)}, {f.integer('dest')}, {f.integer('sendtag')}"
    body.after = [f"record_sendrecv(&f, {sent}, {body.comm}, {body.own_status()});"]


@decodes("isend", "irecv", "send_init", "recv_init")
def _post(body: Body) -> None:
    f, send = body.form, "send" in body.kind
    record = "record_post" if body.kind[0] == "i" else "record_persistent"
    what = "REQUEST_SEND" if send else "REQUEST_RECV"
    peer, request = f.integer("dest" if send else "source"), f.new_handle("request", "request")
    body.after = [f"{record}(&f, {what}, &{_send_data(f)}, {peer}, {f.integer('tag')}, {body.comm}, {request});"]


@decodes("isendrecv")
def _isendrecv(body: Body) -> None:
    f = body.form
    sent = f"{_send_data(f)}, {f.integer('dest')}, {f.integer('sendtag')}"
    received = f"{_receive_data(f)}, {f.integer('source')}, {f.integer('recvtag')}"
    request = f.new_handle("request", "request")
    body.after = [f"record_isendrecv(&f, {sent}, {received}, {body.comm}, {request});"]


@decodes("probe")
def _probe(body: Body) -> None:
    body.after = [f"record_probe(&f, {body.comm}, {body.own_status()});"]


@decodes("iprobe")
def _iprobe(body: Body) -> None:
    body.record_found(f"record_probe(&f, {body.comm}, {body.own_status()});")


@decodes("mprobe", "improbe")
def _mprobe(body: Body) -> None:
    message = body.form.new_handle("message", "message")
    record = f"record_mprobe(&f, {body.comm}, {message}, {body.own_status()});"
    if body.kind == "mprobe":
        body.after = [record]
    else:
        body.record_found(record)


@decodes("mrecv", "imrecv")
def _mrecv(body: Body) -> None:
    f = body.form
    body.before = [
        f"struct held_request message_ = {{{f.new_handle('message', 'message')}, 0}};",
        "requests_hold(&message_, 1);",
    ]
    into = body.own_status() if body.kind == "mrecv" else f.new_handle("request", "request")
    body.after = [f"record_{body.kind}(&f, message_, {into});"]


@decodes("partitioned_init")
def _partitioned(body: Body) -> None:
    f = body.form
    kind, peer = ("SEND", "dest") if f.has("dest") else ("RECV", "source")
    fields = {
        "kind": f"REQUEST_PARTITIONED_{kind}",
        "partitions": f.integer("partitions"),
        "peer": f.integer(peer),
        "tag": f.integer("tag"),
        "count": f.wide("count"),
        "type": f.handle("datatype", "type"),
        "comm": body.comm,
    }
    values = ", ".join(f".{name} = {value}" for name, value in fields.items())
    request = f.new_handle("request", "request")
    body.after = [f"record_partitioned_init(&f, (struct partitioned){{{values}}}, {request});"]


_READY = {"MPI_Pready_range": "{partition_high} - {partition_low} + 1", "MPI_Pready_list": "{length}"}
"""How many partitions a call gives free, if not one."""


@decodes("pready")
def _pready(body: Body) -> None:
    f = body.form
    numbers = {name: f.integer(name) for name in f.names if name != "ierror"}
    partitions = _READY.get(f.procedure.name, "1").format(**numbers)
    body.after = [f"record_pready(&f, {f.handle('request', 'request')}, {partitions});"]


@decodes("parrived")
def _parrived(body: Body) -> None:
    body.record_found(f"record_parrived(&f, {body.form.handle('request', 'request')});")
