"""Contents of the text files of the corpus: machines, modules, options, views."""

from __future__ import annotations

import json

MACHINE = """dialect = "thesis"
mapping = [0, 0, 1]
eager_limit = "32k"
seed = 7
[network]
bandwidth_mb = 100
buses = 4
[[node]]
count = 2
cpus = 2
latency_us = 10
links_in = 1
intra_latency_us = { uniform = [1, 2] }
intra_bandwidth_mb = "inf"
[collectives]
default = "table-9"
Bcast = "LIN MAX CTE S+R"
[scheduling]
policy = "rr"
slice_us = 3
"""
OF_MODELS = """[[application]]
mapping = "round-robin"
[[network]]
model = "net.inter.json"
[[network]]
pieces = [[0, 100, 0, 1000, 1, 10, 1], [1000, 200, 0.5, 2000, 1, 20, 1]]
[[node]]
count = 2
network = 1
[[node]]
speed = { gaussian = [1, 0.1] }
half_duplex = true
wan_latency_us = 100
[wan]
bandwidth_mb = 10
[scheduling]
policy = "svr4"
levels = [[1000, 1, 0], [{ uniform = [1, 5] }, 1, 0]]
base = 1
"""
MODULES = """[[module]]
value = 2
ratio = 0.5
[[module]]
type = 40
value = 1
ratio = -1e-6
"""
CFG = """#DIMEMAS_CONFIGURATION
/* a comment */
"wide area network information" {"", 1, 0, 4, 0.0, 2.5, 1};;
"environment information" {"", 0, "", 3, 100.0, 8, 1};;
"multi node information" {0, 2, "", 4, 1.0, 1e-6, 200.0, 1, 1, 0, 1e-5, 1, 1, 0.0};;
"node information" {0, "", 1, 2.0, 0.0, 0.0, 0, 0, 0, 2e-5, 0, 1, 0.0};;
"mapping information" {"a.dim", 3, [3] {0, 0, 2}};;
"configuration files" {"", "", "collectives.cfg", ""};;
"file system parameters" {0.0, 0.0, 8.0, 0, 1.0};;
"""
COLLECTIVES = "".join(f"{number} LIN MAX LOG MEAN 0\n" for number in range(16))
COLLECTIVES_OF_MACHINES = "# of a machine\nMachine policy: 0 FIFO\nFlight time: 0 0.0\n" + "".join(
    f"Machine globalop: 0 {number} LOG MAX 0 2MAX\nExternal globalop: {number} LIN MEAN CTE S+R\n"
    for number in range(16)
)
_RANKS = (2, 4, 8, 16, 32)
_IN_LINES = "".join(
    f'{{"params": {{"p": {p}}}, "metric": "{metric}", "callpath": "{region}", "value": {p * k + 0.5}}}\n'
    for k, region in enumerate(("main", "main->sort"), 1)
    for metric in ("time", "flops")
    for p in _RANKS
)
_POINTS = [{"point": [p], "values": [p + 0.5, p + 0.6]} for p in _RANKS]
_OLD_JSON = {
    "parameters": [{"id": 1, "name": "p"}],
    "callpaths": [{"id": 1, "name": "main"}],
    "metrics": [{"id": 1, "name": "time"}, {"id": 2, "name": "flops"}],
    "coordinates": [{"id": p, "parameter_value_pairs": [{"parameter_id": 1, "parameter_value": p}]} for p in _RANKS],
    "measurements": [
        {"id": p, "coordinate_id": p, "callpath_id": 1, "metric_id": metric, "value": p + 0.5}
        for p in _RANKS
        for metric in (1, 2)
    ],
}
EXTRA_P = {
    "a.txt": "PARAMETER p\nPOINTS ( 2 ) ( 4 ) ( 8 ) ( 16 ) ( 32 )\n"
    + "".join(
        f"REGION main\nMETRIC {m}\n" + "".join(f"DATA {p} {p + 0.1}\n" for p in _RANKS) for m in ("time", "flops")
    ),
    "a.jsonl": _IN_LINES,
    "talpas.txt": _IN_LINES.replace(", ", ";").replace("params", "parameters"),
    "a.json": json.dumps(
        {"parameters": ["p"], "measurements": {"main": {"time": _POINTS, "flops": _POINTS}}}, indent=1
    ),
    "old.json": json.dumps(_OLD_JSON),
}
OPTIONS = """# a measurement
CLL_NGMPI_N_PARAMETER 16
CLL_NGMPI_TIMES 5
CLL_NGMPI_SIZE_MAX 200000
CLL_NGMPI_NUM_STEPS 2
CLL_NGMPI_STEP 256 2048
CLL_NGMPI_STEP 1024 200000
CLL_NGMPI_MODE 2
CLL_NGMPI_SUBSIZE 2
CLL_NGMPI_SUBNODES 0 1
"""
VIEWS = """says = "What large messages do, by iteration."
thread = "send bandwidth"
level = "application"
composes = { thread = ["sign", ["select range", 0, 9]], task = "absolute" }
compose2 = ["module", 4]
unit = "MB/s"
measures = ["average value", "sends", "bytes received", "deviation of bursts"]
bins = 7
[filter]
source = "0-1"
destination = "!0-1"
size = ">=1K"
tag = [0, 5]
communicators = "MPI_COMM_WORLD"
logical = true
[histogram]
control = "mpi call"
statistic = "bytes sent"
columns = [0, 40, 1]
plane = "other.toml"
planes = [0, 2, 1]
together = true
joined = false
"""
DERIVED = """operation = "divide"
factors = [2, 0.5]
compose1 = ["is in range", 0, 100]
show = "profile"
[[of]]
thread = ["in state", "Running", 3]
level = "task"
task = "maximum"
[[of]]
thread = "in event value"
filter = { types = "mpi", values = "MPI_Send", region = "solve" }
"""
OTHER = """thread = "call"
task = "thread 1"
[filter]
calls = ["collective", "MPI_Send"]
peer = 1
[histogram]
control = "partner"
statistic = "sends"
"""
