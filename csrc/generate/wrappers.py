"""The wrappers of every MPI procedure, in C, in C with large counts, and in Fortran (mpi_x_, mpi_x_f08_).

A wrapper is: find the real function, stamp, call it, stamp, hand the arguments to the function of
csrc/runtime/decode.h that knows this kind of call (csrc/generate/semantics.py says which).
"""

from csrc.generate import accesses, semantics
from csrc.generate.forms import Form, forms
from csrc.generate.standard import Procedure


def _send_data(f: Form) -> str:
    return f.data(f.pick("buf", "sendbuf"), f.pick("count", "sendcount"), f.pick("datatype", "sendtype"))


def _receive_data(f: Form) -> str:
    return f.data(f.pick("recvbuf", "buf"), f.pick("recvcount", "count"), f.pick("recvtype", "datatype"))


def _body(f: Form, kind: str, shape: str) -> tuple[list[str], dict[str, str], list[str]]:
    """Lines before the call, arguments replaced in it, lines after it."""
    before: list[str] = []
    replaced: dict[str, str] = {}

    def own_status(n: str = "1") -> str:
        name = "array_of_statuses" if f.has("array_of_statuses") else "status"
        handles = ", &handles" if n != "1" else ", NULL"
        before.append(f"void *status_ = status_buffer(t, {name}, {f.ignored(name)}, {n}{handles});")
        replaced[name] = "(word)status_"
        return "status_"

    def saved_handles(n: str, array: str = "array_of_requests") -> str:
        before.append(f"const struct held_request *handles = save_handles(t, {array}, {n}, LANGUAGE_{f.language});")
        return "handles"

    def base(call: str, n: str, index: str) -> str:
        if not f.fortran:
            return "0"
        return f"index_base(INDEX_{call}, array_of_requests, handles, {n}, {index})" if f.f08 else "1"

    flag = "read_int(flag, 0)"
    comm = f.comm() if f.has("comm") else "abi.comm_null"
    outcount = "read_int(outcount, 0)"
    message = [
        f"struct held_request message_ = {{{f.new_handle('message', 'message')}, 0}};",
        "requests_hold(&message_, 1);",
    ]
    match kind:
        case "send":
            after = [f"record_send(&f, &{_send_data(f)}, {f.integer('dest')}, {f.integer('tag')}, {comm});"]
        case "recv":
            after = [f"record_recv(&f, {comm}, {own_status()});"]
        case "sendrecv":
            after = [
                f"record_sendrecv(&f, &{_send_data(f)}, {f.integer('dest')}, {f.integer('sendtag')}, {comm}, "
                f"{own_status()});"
            ]
        case "isend" | "irecv" | "send_init" | "recv_init":
            record = "record_post" if kind[0] == "i" else "record_persistent"
            send = "send" in kind
            peer = f.integer("dest" if send else "source")
            after = [
                f"{record}(&f, {'REQUEST_SEND' if send else 'REQUEST_RECV'}, "
                f"&{_send_data(f)}, {peer}, {f.integer('tag')}, {comm}, {f.new_handle('request', 'request')});"
            ]
        case "isendrecv":
            after = [
                f"record_isendrecv(&f, {_send_data(f)}, {f.integer('dest')}, {f.integer('sendtag')}, "
                f"{_receive_data(f)}, {f.integer('source')}, {f.integer('recvtag')}, {comm}, "
                f"{f.new_handle('request', 'request')});"
            ]
        case "start" | "startall":
            array = "request" if kind == "start" else "array_of_requests"
            n = "1" if kind == "start" else f.integer("count")
            after = [f"record_start(&f, {saved_handles(n, array)}, {n});"]
        case "wait" | "test":
            handles = saved_handles("1", "request")
            record = f"record_wait(&f, {handles}[0], {own_status()});"
            after = [record] if kind == "wait" else [f"if ({flag} || f.result) {record}", "else record_poll(&f);"]
        case "waitall" | "testall":
            n = f.integer("count")
            record = f"record_waitall(&f, {saved_handles(n)}, {n}, {own_status(n)});"
            after = [record] if kind == "waitall" else [f"if ({flag} || f.result) {record}", "else record_poll(&f);"]
        case "waitany" | "testany":
            index = f"read_int({f.pick('index', 'indx')}, MPI_UNDEFINED_VALUE)"
            n = f.integer("count")
            record = f"record_waitany(&f, {saved_handles(n)}, {n}, {index}, {base('ANY', n, index)}, {own_status()});"
            after = [record] if kind == "waitany" else [f"if ({flag} || f.result) {record}", "else record_poll(&f);"]
        case "waitsome" | "testsome":
            n = f.integer("incount")
            record = (
                f"record_waitsome(&f, {saved_handles(n)}, {n}, {outcount}, (int *)array_of_indices, "
                f"{base('SOME', n, 'read_int(array_of_indices, MPI_UNDEFINED_VALUE)')}, {own_status(n)});"
            )
            after = (
                [record]
                if kind == "waitsome"
                else [f"if ({outcount} == 0 && !f.result) record_poll(&f);", f"else {record}"]
            )
        case "poll_only":
            after = [f"if ({flag} || f.result) record_timed(&f, abi.comm_null);", "else record_poll(&f);"]
            if f.has("outcount"):
                after[0] = f"if ({outcount} || f.result) record_timed(&f, abi.comm_null);"
        case "asked":
            after = [f"record_asked(&f, {comm});"]
        case "cancel" | "request_free":
            after = [f"record_{kind}(&f, {saved_handles('1', 'request')}[0]);"]
        case "probe":
            after = [f"record_probe(&f, {comm}, {own_status()});"]
        case "iprobe":
            after = [f"if ({flag} || f.result) record_probe(&f, {comm}, {own_status()});", "else record_poll(&f);"]
        case "mprobe" | "improbe":
            record = f"record_mprobe(&f, {comm}, {f.new_handle('message', 'message')}, {own_status()});"
            after = [record] if kind == "mprobe" else [f"if ({flag} || f.result) {record}", "else record_poll(&f);"]
        case "mrecv":
            before += message
            after = [f"record_mrecv(&f, message_, {own_status()});"]
        case "imrecv":
            before += message
            after = [f"record_imrecv(&f, message_, {f.new_handle('request', 'request')});"]
        case "collective" | "icollective" | "collective_init":
            root = f.integer("root") if f.has("root") else "0"
            request = f", {f.new_handle('request', 'request')}" if kind != "collective" else ""
            after = [f"record_{kind}(&f, SHAPE_{shape}, {f.side('send')}, {f.side('recv')}, {root}, {comm}{request});"]
        case "comm_create" | "intercomm_create":
            after = [_comm_created(f, kind)]
        case "comm_idup":
            after = [
                f"record_comm_idup(&f, {comm}, (void *)newcomm, {str(f.fortran).lower()}, "
                f"{f.new_handle('request', 'request')});"
            ]
        case "comm_connect":
            after = [f"record_comm_connected(&f, {comm}, {f.new_handle(f.pick('newcomm', 'intercomm'), 'comm')});"]
        case "comm_free":
            before.append(f"const word comm_ = {f.new_handle('comm', 'comm')};")
            before.append("const uint32_t index_ = comms_index(comm_);")
            after = ["record_comm_free(&f, index_, comm_);"]
        case "group_free":
            before.append(f"groups_forget({f.new_handle('group', 'group')});")
            after = [_timed(f)]
        case "comm_named":
            new = f.new_handle(f.pick("newcomm", "newintercomm"), "comm")
            after = [f"if (!f.result) comms_named({new}, {f.text('stringtag')});"]
            if f.has("newcomm"):
                after += [f"if (!f.result) run_session_joined({new});", "CALLED;"]
            after.append(f"record_timed(&f, {new});")
        case "partitioned_init":
            after = [_partitioned(f)]
        case "pready":
            number = {"MPI_Pready_range": "{partition_high} - {partition_low} + 1", "MPI_Pready_list": "{length}"}
            numbers = {n: f.integer(n) for n in f.names if n != "ierror"}
            partitions = number.get(f.procedure.name, "1").format(**numbers)
            after = [f"record_pready(&f, {f.handle('request', 'request')}, {partitions});"]
        case "parrived":
            record = f"record_parrived(&f, {f.handle('request', 'request')});"
            after = [f"if ({flag} || f.result) {record}", "else record_poll(&f);"]
        case "comm_join" | "comm_parent":
            new, record = ("intercomm", "connected") if kind == "comm_join" else ("parent", "found")
            parent = "abi.comm_null, " if kind == "comm_join" else ""
            after = [f"record_comm_{record}(&f, {parent}{f.new_handle(new, 'comm')});"]
        case "comm_name":
            after = [f"record_comm_name(&f, {comm}, {f.text('comm_name')});"]
        case "win_create" | "win_free" | "win_test" | "rma":
            before, after = accesses.window(f, kind)
        case "file_open" | "file_close" | "file_view":
            before, after = accesses.file(f, kind)
        case "io":
            before, after = accesses.transfer(f, replaced)
        case "session_init":
            opened = f"if (!f.result) run_session_opened({f.new_handle('session', 'session')});"
            after = [opened, "CALLED;", "record_timed(&f, abi.comm_null);"]
        case "session_finalize":
            before.append(f"run_session_closing({f.new_handle('session', 'session')});")
            after = ["record_timed(&f, abi.comm_null);", "run_session_closed();"]
        case "init":
            after = ["if (!f.result) run_started();", "CALLED;", "record_timed(&f, abi.comm_null);"]
        case "finalize":
            after = ["f.enter = entered;", "record_timed(&f, abi.comm_null);", "run_finalized();"]
        case "pcontrol":
            after = [f"record_pcontrol(&f, {f.integer('level')});"]
        case "abort":
            before.append("run_aborting();")
            after = [f"record_timed(&f, {comm});"]
        case _:
            after = [_timed(f)]
    return before, replaced, after


def _comm_created(f: Form, kind: str) -> str:
    if kind == "intercomm_create":
        new, parent = "newintercomm", "abi.comm_null"
    else:
        new = f.pick("newcomm", "comm_cart", "comm_graph", "comm_dist_graph", "newintracomm")
        parent = f.comm(f.pick("comm", "comm_old", "intercomm"))
    return f"record_comm_created(&f, {parent}, {f.new_handle(new, 'comm')});"


def _partitioned(f: Form) -> str:
    send = f.has("dest")
    kind, peer = ("SEND", "dest") if send else ("RECV", "source")
    fields = {
        "kind": f"REQUEST_PARTITIONED_{kind}",
        "partitions": f.integer("partitions"),
        "peer": f.integer(peer),
        "tag": f.integer("tag"),
        "count": f.wide("count"),
        "type": f.handle("datatype", "type"),
        "comm": f.comm(),
    }
    values = ", ".join(f".{name} = {value}" for name, value in fields.items())
    return f"record_partitioned_init(&f, (struct partitioned){{{values}}}, {f.new_handle('request', 'request')});"


def _timed(f: Form) -> str:
    """Posts a request of a kind that is not decoded, or is only timed."""
    types = {a.name.lower(): a.type for a in f.procedure.parameters}
    if types.get("win") == "MPI_Win":
        return accesses.of_window(f)
    if "MPI_File" in (types.get("fh"), types.get("file")):
        return accesses.of_file(f)
    comm = f.comm() if types.get("comm") == "MPI_Comm" else "abi.comm_null"
    if types.get("request") == "MPI_Request*":
        return f"record_other_request(&f, {comm}, {f.new_handle('request', 'request')});"
    return f"record_timed(&f, {comm});"


def wrapper(f: Form) -> str:
    """The C function that stands in for one symbol."""
    p = f.procedure
    kind, shape = semantics.kind_of(p.name)
    before, replaced, after = _body(f, kind, shape)
    arguments = ", ".join(f.names)
    passed = ", ".join(replaced.get(n, n) for n in f.names)
    variadic = ", ..." if p.name == "MPI_Pcontrol" and not f.fortran else ""
    signature = ", ".join(f"word {n}" for n in f.names) + variadic if f.names else "void"
    result = "f.result = (int)returned;"
    if f.fortran:
        result = f"f.result = fortran_result({f.names[p.fortran.index('ierror')]});" if "ierror" in p.fortran else ""
    elif not p.returns_error:
        result = ""
    slot_arguments = f"{f.slot}, {arguments}" if arguments else f.slot
    lines = [f"{'double' if p.returns == 'double' else 'word'} {f.symbol}({signature})", "{"]
    if p.returns == "double":
        return "\n".join(
            [*lines, f"    DOUBLE_WRAPPER({f.slot}, CALL_{p.name}, {int(f.fortran and not f.f08)});", "}", ""]
        )
    if f.fortran and not f.f08:
        lines.append(f"    FORWARD_FORTRAN({slot_arguments});")
    if kind == "finalize":  # asks the other ranks, whether or not this thread is recorded
        lines += ["    const uint64_t entered = clock_ticks();", "    run_finalizing();"]
    if kind == "init":
        failed = result.removeprefix("f.result = ").removesuffix(";")
        lines.append(f"    ENTER_INIT({f.slot}, {failed}, {arguments});")
    else:
        lines.append(f"    ENTER({slot_arguments});")
    lines += [f"    {line}" for line in before]
    lines.append(f"    CALL({', '.join(filter(None, [f'CALL_{p.name}', passed]))});")
    failed = "if (UNLIKELY(f.result)) record_error(&f);" if result and kind not in ("init", "finalize") else ""
    lines += [f"    {line}" for line in [result, failed, *after] if line]
    return "\n".join([*lines, "    LEAVE;", "    return returned;", "}", ""])


def _tables_of_calls(procedures: list[Procedure]) -> list[str]:
    """What csrc/runtime/calls.h declares."""
    classes = [f"    [CALL_{p.name}] = CLASS_{semantics.class_of(p.name)}," for p in procedures]
    roles = [f"    [CALL_{p.name}] = {role}," for p in procedures if (role := semantics.role_of(p.name)) != "0"]
    return [
        f"const uint32_t call_count = {len(procedures)};",
        f"const uint8_t call_class[{len(procedures)}] = {{",
        *classes,
        "};",
        f"const uint8_t call_role[{len(procedures)}] = {{",
        *roles,
        "};\n",
    ]


def source(procedures: list[Procedure]) -> str:
    """wrappers.c: the table of real functions and all wrappers."""
    from csrc.generate import large

    every = [f for p in procedures for f in forms(p)]
    ids = {p.name: i for i, p in enumerate(procedures)}
    fallbacks = {f.symbol: large.fallback(f.procedure) for f in every if f.language == "C_LARGE"}
    table = []
    for f in every:
        names = ", ".join(f'"{n}"' for n in f.real_names)
        fallback = f"(function)fallback_{f.symbol}" if fallbacks.get(f.symbol) else "NULL"
        table.append(f"    [{f.slot}] = {{{{{names}}}, {fallback}}},")
    enums = "enum {\n" + "".join(f"    CALL_{n} = {i},\n" for n, i in ids.items()) + "};\n"
    slots = "enum {\n" + "".join(f"    {f.slot},\n" for f in every) + "    SLOTS\n};\n"
    return "\n".join(
        [
            "/* Generated by csrc/generate/wrappers.py from the MPI standard: do not edit. */",
            '#include "wrapper.h"\n#include "large.h"\n',
            '#include "calls.h"\n',
            enums,
            *_tables_of_calls(procedures),
            slots,
            "static function real_functions[SLOTS];\n",
            *filter(None, fallbacks.values()),
            "static const struct real_function real_function_names[SLOTS] = {",
            *table,
            "};\n",
            '#include "resolve_slot.h"\n',
            "#pragma GCC visibility push(default) /* all else stays hidden from the program */\n",
            *(wrapper(f) for f in every),
            "#pragma GCC visibility pop\n",
            'word own_MPI_Send() __attribute__((alias("MPI_Send"))); /* for csrc/runtime/overhead.c */\n',
        ]
    )
