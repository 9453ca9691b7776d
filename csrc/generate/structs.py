"""C structs from numpy dtypes, so that a table's layout is written down once (in Python)."""

import numpy as np

_C_TYPE = {"i": "int", "u": "uint"}


def c_struct(name: str, dtype: np.dtype) -> str:
    """Write `struct name` with the very layout of `dtype`; the compiler checks size and offsets."""
    lines = [f"struct {name} {{"]
    checks = [f'_Static_assert(sizeof(struct {name}) == {dtype.itemsize}, "{name}");']
    for field in dtype.names:
        kind, offset = dtype.fields[field][:2]
        base, shape = kind.subdtype or (kind, ())
        if base.kind == "S":
            lines.append(f"    char {field}[{base.itemsize}];")
        else:
            array = "".join(f"[{n}]" for n in shape)
            lines.append(f"    {_C_TYPE[base.kind]}{8 * base.itemsize}_t {field}{array};")
        checks.append(f'_Static_assert(offsetof(struct {name}, {field}) == {offset}, "{name}.{field}");')
    return "\n".join([*lines, "};", *checks, ""])


def c_enum(enum, name: str = "") -> str:
    """Write an IntEnum as C constants NAME_MEMBER; by default the name is the class's."""
    name = name or enum.__name__
    members = "".join(f"    {name.upper()}_{m.name} = {m.value},\n" for m in enum)
    return f"enum {name.lower()} {{\n{members}}};\n"


def header(guard: str, *parts: str) -> str:
    """Write a header file from its parts."""
    return "\n".join(
        [f"#ifndef {guard}", f"#define {guard}", "#include <stddef.h>", "#include <stdint.h>", "", *parts, "#endif", ""]
    )
