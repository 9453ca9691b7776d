"""HTTP server of the live view, for this machine only and for users who know the full address.

It listens on the loopback interface, at a port that the system chooses. Each address begins with a random word, new for
each server, so other users of the machine and pages of the web cannot find it. A request that names another host is
refused, because a page could have its own name resolved to 127.0.0.1 (DNS rebinding).

One page may show several runs; each request names its run.
"""

from __future__ import annotations

import gzip
import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from analyzer.errors import TracelibError
from analyzer.report.live.answers import LiveAnswers

RUN = "run"


class LiveRuns:
    """Answers to requests for one or several runs, which are numbered from 0."""

    def __init__(self, every: Sequence[LiveAnswers]) -> None:
        self.every = tuple(every)

    def data(self, name: str, query: Mapping[str, str]) -> Any:
        """Answer a request for JSON data. `runs` lists all runs; any other request is for one run.

        Args:
            name: Name of the request.
            query: Parameters of the request; RUN is the number of the run.

        Raises:
            KeyError: There is no such request.
            TracelibError: A parameter is wrong.
        """
        if name == "runs":
            return {"runs": [one.data("about", {}) for one in self.every]}
        answers, rest = self._of(query)
        return answers.data(name, rest)

    def tile(self, query: Mapping[str, str]) -> bytes:
        """Return the cells of a tile as bytes.

        Raises:
            TracelibError: A parameter is wrong.
        """
        answers, rest = self._of(query)
        return answers.tile(rest)

    def toml(self, query: Mapping[str, str]) -> str:
        """Return the shown viewport as the text of a TOML file, which names the first run."""
        return self.every[0].toml(query)

    def _of(self, query: Mapping[str, str]) -> tuple[LiveAnswers, dict[str, str]]:
        rest = dict(query)
        run = rest.pop(RUN, "0")
        if run not in map(str, range(len(self.every))):
            raise TracelibError(f"{RUN} = {run!r} is no run", f"there are {len(self.every)}")
        return self.every[int(run)], rest


HOST = "127.0.0.1"
_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_TEXT, _JSON = "text/plain; charset=utf-8", "application/json"
_FILES = {
    "": ("analyzer.report.live", "view.html", "text/html; charset=utf-8"),
    "view.css": ("analyzer.report.live", "view.css", "text/css; charset=utf-8"),
    "base.css": ("analyzer.report.page", "base.css", "text/css; charset=utf-8"),
    "drawing.js": ("analyzer.report.page", "drawing.js", "text/javascript; charset=utf-8"),
    "server.js": ("analyzer.report.live", "server.js", "text/javascript; charset=utf-8"),
    "layers.js": ("analyzer.report.live", "layers.js", "text/javascript; charset=utf-8"),
    "scale.js": ("analyzer.report.live", "scale.js", "text/javascript; charset=utf-8"),
    "pane.js": ("analyzer.report.live", "pane.js", "text/javascript; charset=utf-8"),
    "measure.js": ("analyzer.report.live", "measure.js", "text/javascript; charset=utf-8"),
    "panels.js": ("analyzer.report.live", "panels.js", "text/javascript; charset=utf-8"),
    "view.js": ("analyzer.report.live", "view.js", "text/javascript; charset=utf-8"),
}
"""Files that the server offers, by name in the address: package, file, and MIME type."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_NOTHING = b"There is nothing here: open the address that was printed.\n"
_WORTH_PACKING = 1400
"""Size in bytes (one packet) from which on answers are compressed."""
_IDLE_S = 60


class LiveServer(ThreadingHTTPServer):
    """Server of one live view."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False

    def __init__(self, runs: LiveRuns, port: int = 0) -> None:
        """Open a port. 0: any free port.

        Raises:
            TracelibError: The port cannot be opened.
        """
        self.runs, self.token = runs, secrets.token_urlsafe(16)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise TracelibError(f"cannot listen on port {port}: {error.strerror}", "leave out --port") from None

    @property
    def url(self) -> str:
        """Address to open in a browser."""
        return f"http://{HOST}:{self.server_address[1]}/{self.token}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors of a connection, such as a browser that goes away."""


class _Handler(BaseHTTPRequestHandler):
    """Handler of the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_S
    server_version, sys_version = "analyze", ""
    server: LiveServer

    def do_GET(self) -> None:
        """Answer one GET request: a file, a tile, or JSON data. Errors become an HTTP status and a text."""
        if not self._is_for_us():
            return self._send(HTTPStatus.FORBIDDEN, _TEXT, b"This server answers this machine only.\n")
        address = urlsplit(self.path)
        _, _, rest = address.path.partition("/")
        token, _, name = rest.partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            return self._send(HTTPStatus.NOT_FOUND, _TEXT, _NOTHING)
        query = {key: values[-1] for key, values in parse_qs(address.query, keep_blank_values=True).items()}
        try:
            self._send(HTTPStatus.OK, *self._answer(name, query))
        except KeyError:
            self._send(HTTPStatus.NOT_FOUND, _TEXT, _NOTHING)
        except TracelibError as error:
            text = f"{error} ({error.hint})" if error.hint else str(error)
            self._send(HTTPStatus.BAD_REQUEST, _JSON, json.dumps({"error": text}).encode())
        except MemoryError:
            self._send(HTTPStatus.INSUFFICIENT_STORAGE, _JSON, json.dumps({"error": "not enough memory"}).encode())

    def _answer(self, name: str, query: dict[str, str]) -> tuple[str, bytes]:
        """Return MIME type and content of an answer.

        Raises:
            KeyError: There is no such request.
            TracelibError: A parameter is wrong.
        """
        runs = self.server.runs
        if name in _FILES:
            return _FILES[name][2], _file(name)
        if name == "tile":
            return "application/octet-stream", runs.tile(query)
        if name == "view.toml":
            return "application/toml", runs.toml(query).encode()
        return _JSON, json.dumps(runs.data(name, query), separators=(",", ":")).encode()

    def _is_for_us(self) -> bool:
        hosts = self.headers.get_all("Host", [])
        name, colon, port = hosts[0].rpartition(":") if hosts else ("", "", "")
        if not colon or port.endswith("]"):
            name = hosts[0] if hosts else ""
        return len(hosts) == 1 and name.lower() in _NAMES

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        packed = len(content) > _WORTH_PACKING and "gzip" in self.headers.get("Accept-Encoding", "")
        content = gzip.compress(content, 1) if packed else content
        with suppress(ConnectionError):
            self.send_response(status)
            for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@cache
def _file(name: str) -> bytes:
    package, file, _ = _FILES[name]
    return files(package).joinpath(file).read_bytes()
