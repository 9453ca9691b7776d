"""python_code_mark of places/python.h, in every CPython on the PATH: by it one code object is told from the next."""

from pythons import python_fixture

python = python_fixture()

SAME_ADDRESS = """
import sysconfig
places, known = set(), {}
for i in range(6000):
    name, file, first, gap = "fgh"[i % 3], "file %d" % (i % 2), i % 5, i // 100
    body = "\\n x = 1\\n y = 2" + "\\n" * gap + "\\n look(0)" + "\\n z = 3" * 9
    source = "\\n" * first + f"def {name}():{body}\\n{name}()\\ndel {name}"
    exec(compile(source, file, "exec"), {"look": library.look})
    p = library.place(0).contents
    place = p.file, p.function, p.line
    before = known.setdefault((p.code, p.instruction, p.mark), place)
    assert before == place, (before, place)
    places.add(place)
addresses = {key[:2] for key in known}
reused = len(addresses) < 100 or sysconfig.get_config_var("Py_GIL_DISABLED")  # there it is freed much later
assert len(places) > 300 and reused, (len(places), len(addresses))
"""


def test_another_code_object_at_the_same_address_has_another_mark(python):
    """Six hundred places, of which each is gone before the next one is made at much the same addresses."""
    assert python.looks(SAME_ADDRESS) == 0


SAME_CODE = """
import threading
def f():
    library.look(0)
    marks.add(library.place(0).contents.mark)
marks = set()
for _ in range(3000): f()
for t in [threading.Thread(target=f) for _ in range(3)]: t.start(); t.join()
assert len(marks) == 1
"""


def test_the_mark_of_a_code_object_stays(python):
    """While it is specialized, traced, or run by several threads."""
    traced = (
        "import sys\nsys.settrace(lambda *_: None)\nfor _ in range(9): f()\nsys.settrace(None)\nassert len(marks) == 1"
    )
    assert python.looks(SAME_CODE + traced) == 0
