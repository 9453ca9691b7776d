"""places/python.h in every CPython on the PATH, against what Python itself says of the same call as it is made."""

from python_callers import callers
from pythons import SUPPORT, python_fixture

python = python_fixture()


def test_every_kind_of_code(python):
    """Each as it is by itself, and again when all have run before it."""
    kinds = callers(python.minor)
    expected = {name: calls for name, calls, _ in kinds}
    for _ in range(2):
        assert {name: python.looks(source, f"{name}.py") for name, _, source in kinds} == expected


ANYWHERE = """
import argparse, asyncio, dataclasses, gc, json, pprint, sys, typing
def work():
    json.dumps(json.loads(json.dumps({"a": [1, 2, {"b": None}] * 20})), indent=1)
    @dataclasses.dataclass(order=True)
    class Point:
        x: int
        y: list = dataclasses.field(default_factory=list)
    sorted([Point(i % 3, [i]) for i in range(20)])
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int)
    parser.parse_args(["--n", "3"])
    pprint.pformat([{i: list(range(i))} for i in range(5)])
    class Box(typing.Generic[typing.TypeVar("T")]):
        def __init__(self, n):
            self.n = [(lambda: n)() for _ in range(2)]
    [Box(i) for i in range(30)]
    async def leaf(i): return [x async for x in numbers(i)]
    async def numbers(i):
        for k in range(3):
            await asyncio.sleep(0)
            yield k
    async def main(): return await asyncio.gather(*(leaf(i) for i in range(5)))
    asyncio.run(main())
events, busy = 0, False
def in_profile(*_):
    global events
    events += 1
    if events % 7 == 0: look(here)
def in_collection(*_):
    global busy
    if not busy:
        busy = True
        look(here)
        busy = False
threshold = gc.get_threshold()
sys.setprofile(in_profile)
work()
sys.setprofile(None)
gc.callbacks.append(in_collection)
gc.set_threshold(1, 1, 1)
work()
gc.set_threshold(*threshold)
gc.callbacks.remove(in_collection)
"""


def test_anywhere_in_the_standard_library(python):
    """In a function that Python calls at every seventh event, and whenever it collects what is no longer used."""
    assert python.looks(ANYWHERE) > 500


LINES = """
import ast, base64, contextlib, ctypes, dis, json, sys, types
MINOR = sys.version_info[1]
library.python_line.argtypes = ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int32, ctypes.c_int64
library.python_line.restype = ctypes.c_uint32
def lines_of(code):
    if MINOR >= 10:
        return [line or 0 for start, end, line in code.co_lines() for _ in range(start, end, 2)]
    starts = dict(dis.findlinestarts(code))
    lines, line = [], code.co_firstlineno
    for offset in range(0, len(code.co_code), 2):
        line = starts.get(offset, line)
        lines.append(line)
    return lines
def compare(code):
    table = code.co_linetable if MINOR >= 10 else code.co_lnotab
    own = lines_of(code)
    said = [library.python_line(MINOR, table, len(table), code.co_firstlineno, 2 * i) for i in range(len(own))]
    assert said == own, (code, said, own)
    return len(own) + sum(compare(c) for c in code.co_consts if isinstance(c, types.CodeType))
count = 0
for module in ast, base64, contextlib, ctypes, dis, json, types:
    with open(module.__file__) as file:
        count += compare(compile(file.read(), module.__file__, "exec"))
assert count > 5000
"""


def test_the_line_of_every_instruction(python):
    """Lines in some modules, as Python itself decodes its tables."""
    assert python.looks(LINES) == 0


BY_HAND = """
def f(n):
    return [n,
            library.look(0)]

class A:
    def g(self):
        f(
            1)
A().g()
found = [library.place(i).contents for i in range(3)]
expected = [("f", 4), (METHOD, 8), ("<module>", 10)]
assert [(p.function.decode(), p.line) for p in found] == expected, [(p.function, p.line) for p in found]
assert {p.file for p in found} == {b"by hand"}
"""


def test_lines_counted_by_hand(python):
    method = "A.g" if python.minor >= 11 else "g"
    assert python.looks(BY_HAND.replace("METHOD", repr(method)), "by hand") == 0


UNCHANGED = """
import sys, threading
def f(n, *rest): return f(n - 1, *rest) if n else library.look_often(*rest)
watched = f, f.__code__, f.__code__.co_filename, f.__code__.co_name, sys._getframe(), threading.current_thread(), None
def measured(describing):
    before = [sys.getrefcount(w) for w in watched], sys.getallocatedblocks()
    found = f(20, 1000, describing)
    after = [sys.getrefcount(w) for w in watched], sys.getallocatedblocks()
    return found, before, after
for describing in False, True:
    measured(describing)
    found, before, after = measured(describing)
    assert found >= 22_000, found
    assert before[0] == after[0], (before, after)
    assert abs(before[1] - after[1]) <= 50, (before, after)
"""


def test_no_reference_and_no_memory_is_taken(python):
    """In a thousand calls of 22 frames each; what measures takes a few blocks itself."""
    assert python.looks(UNCHANGED, "unchanged") == 0


def test_a_thread_that_python_does_not_know_has_no_frames(python):
    assert python.looks("assert library.look_in_other_thread() == 0; look(here)") == 1


FORKED = """
import os, sys
def depth(frame): return 1 + depth(frame.f_back) if frame else 0
def f():
    child = os.fork()
    if not child:
        os._exit(library.look(0) != depth(sys._getframe()))
    assert os.waitpid(child, 0)[1] == 0
f()
"""


def test_in_a_forked_process(python):
    """Only the number of frames is compared."""
    assert python.looks(FORKED) == 0


INTERPRETERS = """
import sys
try: import _interpreters as interpreters
except ImportError: import _xxsubinterpreters as interpreters
MINOR = sys.version_info[1]
def f(): return look(here)
other = interpreters.create("legacy") if MINOR >= 13 else interpreters.create(isolated=False)
def count(): return library.look(0)
if MINOR >= 12:
    f()
else:
    assert count() == 0
run = interpreters.exec if MINOR >= 13 else interpreters.run_string
said = run(other, f'''if True:
    import sys
    sys.path.insert(0, {str(folder)!r})
    import python_frames
    answer = python_frames.Looks({path!r}).run("def g(): return look(here)" + chr(10) + "g()", "inside")
    expected = 1 if {MINOR >= 12} else 0
    assert answer["looks"] == 1 and len(answer["wrong"]) == 1 - expected, answer
    assert expected or answer["wrong"][0][0] == [], answer
''')
assert said is None, said
interpreters.destroy(other)
f()
"""


def test_with_several_interpreters(python):
    """From 3.12 on the frames belong to the one that runs; before that they are not known while there are two."""
    names = f"folder, path = {str(SUPPORT)!r}, {str(python.library)!r}\n"
    assert python.looks(names + INTERPRETERS) == (2 if python.minor >= 12 else 1)
