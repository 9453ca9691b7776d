"""The server of the live view: who may ask, what it answers, and that it ends."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tomllib
from threading import Thread
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest
from paths import ROOT
from patience import patient
from uneven_runs import iterative, written

from analyzer.cli import main
from analyzer.live.run import LiveRun
from analyzer.live.selection import Viewport
from analyzer.live.session import RunSession
from analyzer.live.tiles import BINS
from analyzer.opening import open_trace
from analyzer.report.live.answers import LiveAnswers
from analyzer.report.live.server import LiveRuns, LiveServer
from analyzer.timeline import ActivityKind

RANKS, ITERATIONS = 4, 30


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    work = iterative(ITERATIONS, RANKS, lambda k, rank: 1000 + 600 * (rank == k % 4), step_us=100)
    return written(tmp_path_factory.mktemp("run"), work)


@pytest.fixture(scope="module")
def served(file):
    looked_at = RunSession(lambda: open_trace(file), LiveRun(open_trace(file)))
    looked_at.find_iterations()
    with LiveServer(
        LiveRuns([LiveAnswers(looked_at, str(file), Viewport(0, looked_at.now.run.trace.duration_ns))])
    ) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
    looked_at.close()


def asked(server, path, host=None, method="GET"):
    """Status, headers and content."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=patient(30))
    connection.putrequest(method, path, skip_host=True)
    if host != "":
        connection.putheader("Host", host or f"127.0.0.1:{server.server_address[1]}")
    connection.endheaders()
    response = connection.getresponse()
    found = response.status, dict(response.getheaders()), response.read()
    connection.close()
    return found


def answer(server, name, **query):
    status, _, content = asked(server, f"/{server.token}/{name}?{urlencode(query)}")
    return status, json.loads(content)


def data(server, name, **query):
    status, found = answer(server, name, **query)
    assert status == 200, found
    return found


def test_it_listens_on_this_machine_only(served):
    assert served.server_address[0] == "127.0.0.1"
    assert urlsplit(served.url).hostname == "127.0.0.1" and len(served.token) >= 20


@pytest.mark.parametrize("path", ["/", "/about", "/x/about", "/about/", "//about", "/..%2f/about"])
def test_without_the_token_there_is_nothing(served, path):
    status, _, content = asked(served, path)
    assert status == 404 and b"There is nothing here" in content


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "", "localhost.x"],
)
def test_a_page_of_another_name_is_refused(served, host):
    """As after DNS rebinding: the browser names the other's host."""
    assert asked(served, f"/{served.token}/about", host)[0] == 403


@pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1:9000", "[::1]:9000", "LOCALHOST", "127.0.0.1", "[::1]"])
def test_a_tunnel_to_it_may_have_another_port(served, host):
    assert asked(served, f"/{served.token}/about", host)[0] == 200


def test_nothing_but_its_own_may_run_on_its_page(served):
    status, headers, _ = asked(served, f"/{served.token}/")
    policy = headers["Content-Security-Policy"]
    assert status == 200 and "default-src 'none'" in policy and "script-src 'self'" in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers
    assert asked(served, f"/{served.token}/about", method="POST")[0] == 501


def test_tiles_and_sums_agree(served, file):
    about = data(served, "about")
    level = 15
    cells = np.zeros(len(ActivityKind))
    for index in range((about["duration_ns"] >> level) // BINS + 1):
        query = urlencode({"level": level, "index": index, "block": 0, "rows": "ranks"})
        _, _, content = asked(served, f"/{served.token}/tile?{query}")
        cells += np.frombuffer(content, np.uint8).reshape(RANKS, BINS, len(ActivityKind)).sum(axis=(0, 1)) / 255
    sums = data(served, "sums")
    seconds = [sums[name] for name in ("computing_s", "waiting_s", "rest_of_mpi_s", "tracer_s")]
    assert np.allclose(cells * (1 << level) / 1e9, seconds, rtol=0.01, atol=2e-4)


def test_a_moment_is_that_of_analyze_what(served, file, capsys):
    assert main(["what", str(file), "--rank", "1", "--at", "7ms", "--around", "1", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)["ranks"][0]
    found = data(served, "moment", rank=1, at=7_000_000)
    waits = [thread.pop("wait") for thread in found["threads"]]
    assert {**found, "messages": 0, "requests": 0, "events": 0} == {
        **expected, "messages": 0, "requests": 0, "events": 0
    }  # fmt: skip
    assert len(waits) == 1


def test_a_wait_is_told_with_its_cause(served):
    run = served.runs.every[0].now.run
    row = run.waits.waits[len(run.waits.waits) // 2]
    found = data(served, "moment", rank=int(run.lanes.rank[row["lane"]]), at=int(row["enter"]))
    wait = found["threads"][0]["wait"]
    assert wait["begin_s"] == row["enter"] / 1e9 and wait["end_s"] == row["end"] / 1e9
    assert wait["cause_rank"] == run.lanes.rank[row["cause"]]


def test_marks(served):
    duration = data(served, "about")["duration_ns"]
    found = data(served, "marks", begin=0, end=duration, rank=0)
    edges = found["iterations"]["edges_ns"]
    assert len(edges) == ITERATIONS + 1 and found["iterations"]["first"] == 0
    later = data(served, "marks", begin=edges[5], end=edges[9], rank=0)["iterations"]
    assert (later["first"], later["edges_ns"]) == (5, edges[5:9])


def test_hits_of_rows_and_strips(served):
    duration = data(served, "about")["duration_ns"]
    whole = data(served, "hits", call="allreduce", **{"from": 0, "to": 4}, strips=7)
    assert (whole["all"], whole["in_view"]) == (RANKS * ITERATIONS,) * 2
    assert [sum(row) for row in whole["counts"]] == [ITERATIONS] * RANKS and len(whole["counts"][0]) == 7
    hit = data(served, "step", call="allreduce", at=0, row=0)["hit"]
    assert 0 < hit["at_ns"] < duration
    assert data(served, "step", call="allreduce", at=hit["at_ns"], row=hit["row"], back=1)["hit"] is None


def test_messages_of_the_rows_in_sight(served):
    """Rank 2 sends to 1 and 3 in the ring and to 3 in the chain, and gets as many."""
    duration = data(served, "about")["duration_ns"]
    found = data(served, "messages", begin=0, end=duration, **{"from": 2, "to": 3}, strips=5)
    assert found["count"] == ITERATIONS * 6 == len(found["arrows"])
    assert all(2 in (arrow[4], arrow[6]) for arrow in found["arrows"])
    assert sum(found["counts"]) == len(served.runs.every[0].now.run.messages)


def test_a_run_that_is_being_written_is_read_again(tmp_path):
    """First it has 5 iterations, then 9 and an end."""
    files = []
    for count in (5, 9):
        (tmp_path / str(count)).mkdir()
        files.append(written(tmp_path / str(count), iterative(count, 2, lambda k, rank: 1000)))
    left = [tmp_path / "none.h5", files[1]]
    looked_at = RunSession(lambda: open_trace(left.pop()), LiveRun(open_trace(files[0])), lambda _: len(left) > 1)
    answers = LiveAnswers(looked_at, "run.h5", Viewport(0, 1))
    before = answers.data("status", {})
    assert before["follows"] and before["generation"] == 0
    looked_at.read_again()
    after = answers.data("status", {})
    assert not after["follows"] and after["generation"] == 1
    assert after["duration_ns"] == open_trace(files[1]).duration_ns > before["duration_ns"]
    assert answers.data("hits", {"call": "allreduce", "from": "0", "to": "2", "strips": "1"})["all"] == 18
    looked_at.read_again()  # which fails: there is nothing more
    assert answers.data("status", {}) == after
    looked_at.close()


def test_a_view_as_a_file(served):
    query = urlencode({"begin_s": "0.001000001", "end_s": "0.002", "rows": "threads", "call": 'a"b', "peer": 2})
    _, _, content = asked(served, f"/{served.token}/view.toml?{query}")
    found = tomllib.loads(content.decode())
    assert (found["begin_s"], found["rows"], found["search"]) == (0.001000001, "threads", {"call": 'a"b', "peer": 2})


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("tile", {}), ("tile", {"level": 99, "index": 0, "block": 0}), ("tile", {"level": 2, "index": -1, "block": 0}),
        ("tile", {"level": 5, "index": 10**18, "block": 0}), ("moment", {"rank": 4, "at": 0}),
        ("moment", {"rank": 0, "at": "x"}), ("messages", {"begin": 5, "end": 5, "from": 0, "to": 4, "strips": 3}),
        ("messages", {"begin": 0, "end": 5, "from": 0, "to": 4, "strips": 10**6}), ("sums", {"begin_s": "x"}),
        ("sums", {"call": "("}),
        ("sums", {"what": 1}), ("rows", {"rows": "x"}), ("rows", {"ranks": "9"}), ("sums", {"place": "main"}),
    ],
)  # fmt: skip
def test_a_bad_request_is_one_line(served, name, query):
    status, found = answer(served, name, **query)
    assert status == 400 and found["error"] and "\n" not in found["error"]


@pytest.mark.parametrize("name", ["none", "view.js/x", "../view.js", "__init__.py"])
def test_no_other_file_is_served(served, name):
    assert asked(served, f"/{served.token}/{name}")[0] == 404


def command(*words):
    """A process of `analyze view`, and its address."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    process = subprocess.Popen(
        [sys.executable, "-m", "analyzer", "view", *map(str, words)], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    line = process.stdout.readline()
    return process, line.split(": ", 1)[1].split()[0]


def test_it_ends_with_one_line(file):
    process, address = command(file)
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=patient(30))
    connection.request("GET", f"{parts.path}about")
    assert connection.getresponse().status == 200  # and the connection stays open
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=patient(60))
    assert (process.returncode, out, err) == (0, f"{file}: the view has ended\n", "")
    with pytest.raises(OSError):
        socket.create_connection((parts.hostname, parts.port), timeout=5)


def test_a_port_that_is_taken_is_said(file, capsys, served):
    assert main(["view", str(file), "--no-browser", "--port", str(served.server_address[1])]) == 1
    assert "cannot listen on port" in capsys.readouterr().err
