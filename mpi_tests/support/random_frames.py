"""C programs of random functions that call each other and MPI, with frames of all kinds and a stack kept by hand."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

ROOMS = (
    "",
    "volatile char *room = (volatile char *)alloca(16 + draw({n}) * 16); room[0] = 1;",
    "char room[draw({n}) * 8 + 1]; use(room);",
    "char room[{n} * 8]; use(room);",
    "_Alignas(64) char room[{n}]; use(room);",
    "volatile long double room = draw({n}); use((void *)&room);",
)
ATTRIBUTES = ("noinline", "noclone, noinline", "always_inline", "cold", "flatten", "used")
GCC_FRAMES = ("", 'optimize("omit-frame-pointer")', 'optimize("no-omit-frame-pointer")', 'optimize("O0")')


@dataclass(frozen=True)
class Function:
    """A function of a random program: `steps` are numbers of functions, -1 for a call of MPI, -2 for one by a
    pointer."""

    attribute: str
    frame: str
    room: str
    size: int
    arguments: int
    steps: tuple[int, ...]
    loops: bool


def functions(of_gcc: bool) -> st.SearchStrategy[list[Function]]:
    """Some functions that call each other; only gcc has options by function."""
    step = st.integers(-2, 5)
    one = st.builds(
        Function,
        st.sampled_from(ATTRIBUTES),
        st.sampled_from(GCC_FRAMES if of_gcc else ("",)),
        st.sampled_from(ROOMS),
        st.integers(1, 40),
        st.integers(0, 8),
        st.lists(step, min_size=1, max_size=5).map(tuple),
        st.booleans(),
    )
    return st.lists(one, min_size=2, max_size=6)


HEAD = """
#define KEEPS_STACK
#include "hand_kept.h"
#include <alloca.h>
static unsigned long state;
static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(state >> 33) % n;
}
static __attribute__((noinline)) void use(volatile void *room) { __asm__ volatile("" : : "r"(room) : "memory"); }
enum { MOST_CALLS = 3000 };
"""
TAIL = """
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    state = strtoul(argv[1], NULL, 10);
    for (int i = 0; i < 300 && notes_written < MOST_CALLS; i++) {
        AT(by_pointer[draw(FUNCTIONS)](draw(8)));
    }
    SEND;
    MPI_Finalize();
    return 0;
}
"""


def source(functions: list[Function]) -> str:
    """The program. Its functions have names by_0, by_1, ...; those that are inlined never call themselves by name."""
    count = len(functions)
    lines = [HEAD, f"enum {{ FUNCTIONS = {count} }};"]
    for i, function in enumerate(functions):
        lines.append(f"static void by_{i}_whole(int n{_parameters(function)});")
        lines.append(f"static __attribute__((noinline)) void by_{i}(int n);")
    table = ", ".join(f"by_{i}" for i in range(count))
    lines.append(f"static void (*by_pointer[])(int) = {{ {table} }};")
    for i, function in enumerate(functions):
        lines += _definition(i, function, count)
    return "\n".join([*lines, TAIL])


def _parameters(function: Function) -> str:
    return "".join(f", long a{k}" for k in range(function.arguments))


def _definition(i: int, function: Function, count: int) -> list[str]:
    inlined = function.attribute == "always_inline"  # which a function with options of its own cannot be
    attributes = ", ".join(filter(None, [function.attribute, "" if inlined else function.frame]))
    inline = "inline " if inlined else ""
    lines = [
        f"static {inline}__attribute__(({attributes})) void by_{i}_whole(int n{_parameters(function)})",
        "{",
        "    ENTERED;",
        f"    {function.room.format(n=function.size)}",
        "    for (unsigned turns = draw(3); turns-- > 0;) {" if function.loops else "    {",
    ]
    for step in function.steps:
        if step == -1:
            lines.append("        SEND;")
            continue
        callee = "by_pointer[draw(FUNCTIONS)]" if step == -2 else f"by_{step % count}"
        lines.append("        if (n > 0 && notes_written < MOST_CALLS && draw(3))")
        lines.append(f"            AT({callee}(n - 1));")
    words = "".join(f", draw({k + 2})" for k in range(function.arguments))
    return [
        *lines,
        "        SEND;",
        "    }",
        "    LEFT;",
        "}",
        f"static void by_{i}(int n)",
        "{",
        "    ENTERED;",
        f"    AT(by_{i}_whole(n{words}));",
        "    LEFT;",
        "}",
    ]
