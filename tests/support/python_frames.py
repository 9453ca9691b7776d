"""Run by each CPython at hand, 3.9 and later: calls into C, and says where C's answer is not Python's own.

    python python_frames.py LIBRARY

Reads a JSON text a line, {"source": ..., "file": ...}, runs it with `look`, `look_held` and `here`, and answers with
one: {"looks": how many calls, "wrong": [[C's answer, Python's own], ...], "error": a traceback or null}.
`look(here)` releases the GIL around C, `look_held(here)` keeps it. `library` is python_frames.c without comparing.
"""

import ctypes
import json
import sys
import threading
import traceback

ROOM = 2000


class Place(ctypes.Structure):
    """`struct place` of the library."""

    _fields_ = [
        ("file", ctypes.c_char * 300),
        ("function", ctypes.c_char * 300),
        ("line", ctypes.c_uint32),
        ("code", ctypes.c_void_p),
        ("instruction", ctypes.c_void_p),
        ("mark", ctypes.c_uint64),
    ]


def own(frame):
    """Return Python's own description of a frame and its callers: file, function, line (0: none)."""
    found = []
    while frame and len(found) < ROOM:
        code = frame.f_code
        names = code.co_filename, getattr(code, "co_qualname", code.co_name)
        found.append([*map(shown, names), frame.f_lineno or 0])
        frame = frame.f_back
    return found


def shown(text):
    """As UTF-8 can say it, cut to the room that there is."""
    text = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)
    return text.encode()[:299].decode("utf-8", "ignore")


class Here(threading.local):
    """As an argument of C: Python's own answer is noted when the call is being made, from the same instruction."""

    truth = None

    @property
    def _as_parameter_(self):
        self.truth = own(sys._getframe(1))
        return 0


class Looks:
    """The calls made since the last question, and those whose answers differ."""

    def __init__(self, path):
        self.here, self.count, self.wrong = Here(), 0, []
        self.released, self.held, self.plain = ctypes.CDLL(path), ctypes.PyDLL(path), ctypes.CDLL(path)
        self.released.look.errcheck = self.held.look.errcheck = self.compare
        self.plain.place.restype = ctypes.POINTER(Place)

    def compare(self, n, function, arguments):
        places = [self.plain.place(i).contents for i in range(n)]
        answer = [[p.file.decode(), p.function.decode(), p.line] for p in places]
        self.count += 1
        if answer != self.here.truth or not self.plain.is_unchanged():
            self.wrong.append([answer, self.here.truth])
        return n

    def run(self, source, file):
        names = {"__name__": "program", "look": self.released.look, "look_held": self.held.look}
        names.update(here=self.here, library=self.plain)
        error = None
        self.count, self.wrong = 0, []
        try:
            exec(compile(source, file, "exec", dont_inherit=True), names)
        except BaseException:
            error = traceback.format_exc()
        return {"looks": self.count, "wrong": self.wrong, "error": error}


if __name__ == "__main__":
    looks = Looks(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(looks.run(**json.loads(line))), flush=True)
