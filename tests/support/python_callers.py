"""Python code of many kinds that calls C: each with how many calls it makes, and since which 3.minor it can be run.

In it `look(here)` calls C with the GIL released, `look_held(here)` with the GIL.
"""

from textwrap import dedent

LATE_LINE = 70_000

CALLERS: dict[str, tuple[int, int, str]] = {
    "module": (9, 2, "look(here)\nlook_held(here)\n"),
    "nested functions": (
        9,
        2,
        """
        def outer():
            def inner(*, n=2):
                return n + look(here)
            return inner() + inner(n=3)
        outer()
        """,
    ),
    "methods": (
        9,
        6,
        """
        class Base:
            look(here)
            def __init__(self): look(here)
            @property
            def p(self):
                return look(here)
            @staticmethod
            def s(): return look(here)
            @classmethod
            def c(cls): return look(here)
        class Derived(Base):
            def __init__(self):
                super().__init__()
            def __add__(self, other):
                return look(here)
        d = Derived()
        d.p; d.s(); d.c(); d + d
        """,
    ),
    "methods that are called often": (
        9,
        300,
        """
        class Base:
            def __init__(self, n): look(here)
        class Derived(Base):
            def __init__(self, n):
                variable = lambda: n
                super().__init__(n)
                look(here)
            def method(self): look(here)
        for i in range(100):
            Derived(i).method()
        """,
    ),
    "comprehensions": (
        9,
        11,
        """
        [look(here) for _ in range(2)]
        {look(here) for _ in range(1)}
        {1: look(here) for _ in range(1)}
        sum(look(here) for _ in range(2))
        def f(): return [[look(here) for _ in range(n)] for n in range(3)]
        f()
        (lambda: [
            0,
            look(here)])()
        sorted([2], key=lambda x: look(here))
        """,
    ),
    "generators": (
        9,
        8,
        """
        def leaf():
            got = yield look(here)
            look(here)
        def middle():
            yield from leaf()
            yield look(here)
        list(middle())
        g = leaf()
        next(g)
        def other(g):
            for _ in g: pass
        other(g)
        def closing():
            try:
                yield
            finally:
                look(here)
        g = closing(); next(g); g.close()
        g = closing(); next(g); del g
        g = closing(); next(g)
        try: g.throw(ValueError)
        except ValueError: pass
        """,
    ),
    "async": (
        9,
        7,
        """
        import asyncio
        class Context:
            async def __aenter__(self): look(here)
            async def __aexit__(self, *_):
                await asyncio.sleep(0)
                look(here)
        async def numbers():
            for i in range(2):
                yield look(here)
        async def leaf(): return look(here)
        async def main():
            async with Context():
                [n async for n in numbers()]
            await asyncio.gather(leaf(), leaf())
            asyncio.get_running_loop().call_soon(look, here)
            await asyncio.sleep(0)
        asyncio.run(main())
        """,
    ),
    "recursion": (
        9,
        2,
        """
        def down(n):
            if n: return down(n - 1)
            return look(here), look_held(here)
        down(700)
        """,
    ),
    "recursion through C": (
        9,
        1,
        """
        import functools
        def down(n):
            return list(map(down, [n - 1])) if n else look(here)
        down(50)
        """,
    ),
    "exec": (
        9,
        3,
        """
        exec("\\n\\nlook(here)")
        eval("(lambda:\\n look(here))()")
        exec(compile("def f():\\n\\n  look(here)\\nf()", "\\x00 \\u00fc \\u20ac \\U0001f600".strip("\\x00 "), "exec"))
        """,
    ),
    "names that are hard to write": (
        9,
        5,
        """
        source = "class \\u03bb:\\n def \\u00fc\\u6f22(self): look(here)\\n\\u03bb().\\u00fc\\u6f22()"
        for file in "na\\u00efve", "\\u6f22.py", "\\U0001f600.py", "\\udc80\\ud800.py", "x" * 298 + "\\u20ac" * 9:
            exec(compile(source, file, "exec"))
        """,
    ),
    "multi-line expressions": (
        9,
        6,
        """
        x = (1,
            look(here),
            [2,
             (lambda: (
                 look(here)
             ))()],
            look(
                here
            ))
        y = {
            "a": look(here) +
                 look(here),
            "b": f"{1} {look(here)}"
        }
        """,
    ),
    "blocks": (
        9,
        9,
        """
        import contextlib
        @contextlib.contextmanager
        def manager():
            look(here)
            try: yield
            finally: look(here)
        def f():
            for i in range(2):
                while True:
                    if i: look(here)
                    else:
                        look(here)
                    break
            with manager():
                try:
                    1 / 0
                except ZeroDivisionError as e:
                    look(here)
                    try: raise ValueError from e
                    except ValueError: look(here)
                    finally: look(here)
                else: pass
                finally:
                    look(here)
            assert look(here) > 0
        f()
        """,
    ),
    "decorators": (
        9,
        4,
        """
        import functools
        def decorator(n):
            look(here)
            def decorate(f):
                look(here)
                @functools.wraps(f)
                def wrapper(*a, **k):
                    look(here)
                    return f(*a, **k)
                return wrapper
            return decorate
        @decorator(
            1
        )
        def f(*a, b=1): look(here)
        f(1, 2, b=3)
        """,
    ),
    "calls of Python by C": (
        9,
        6,
        """
        import ctypes, functools, weakref
        functools.reduce(lambda a, b: look(here), [1, 2])
        class A:
            def __del__(self): look(here)
            def __getattr__(self, name): return look(here)
            def __iter__(self):
                yield look(here)
        A().x
        list(A())
        ctypes.CFUNCTYPE(ctypes.c_int)(lambda: look(here))()
        """,
    ),
    "threads": (
        9,
        40,
        """
        import threading
        def work(n):
            def deeper(k):
                if k: deeper(k - 1)
                else: look(here)
            for i in range(10): deeper(n + i)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        """,
    ),
    "traced": (
        9,
        4,
        """
        import sys
        def f():
            look(here)
            return look(here)
        def trace(frame, event, arg): return trace
        before = sys.gettrace(), sys.getprofile()
        sys.settrace(trace); f(); sys.settrace(before[0])
        sys.setprofile(trace); f(); sys.setprofile(before[1])
        """,
    ),
    "far apart": (
        9,
        5,
        f"""
        lines = ["def f():", " look(here)"] + [""] * 200 + [" look(here)"] + [""] * {LATE_LINE} + [" look(here)"]
        exec("\\n".join(lines + ["f()"]))
        exec("\\n" * 1000 + "f = lambda: (\\n look(here),\\n\\n" + " " * 300 + "look(here))\\nf()")
        """,
    ),
    "long code": (
        9,
        2,
        """
        exec("def f(x):\\n" + " x = x + 1; x = x.real\\n" * 3000 + " look(here)\\nf(0)")
        exec("x = [" + "1,\\n" * 3000 + "look(here)]")
        """,
    ),
    "lines changed afterwards": (
        9,
        3,
        """
        def f():
            look(here)
        for line in 1, 1000, 100_000:
            f.__code__ = f.__code__.replace(co_firstlineno=line, co_name="g")
            f()
        """,
    ),
    "match": (
        10,
        2,
        """
        match {"a": [1, look(here)]}:
            case {"a": [1, n]} if look(here): pass
        """,
    ),
    "groups of exceptions": (
        11,
        2,
        """
        try: raise ExceptionGroup("", [ValueError(), KeyError()])
        except* ValueError: look(here)
        except* KeyError:
            look(here)
        """,
    ),
    "no line": (
        11,
        1,
        """
        def f(): look(here)
        f.__code__ = f.__code__.replace(co_linetable=b"")
        f()
        """,
    ),
    "generics": (
        12,
        2,
        """
        class A[T: (look(here), int)]:
            def f[U](self, x: U = look(here)) -> T: pass
        A.__type_params__[0].__constraints__
        """,
    ),
}


def callers(minor: int) -> list[tuple[str, int, str]]:
    """Return the callers that a version of Python can run: name, calls, source."""
    return [(name, calls, dedent(text)) for name, (first, calls, text) in CALLERS.items() if first <= minor]
