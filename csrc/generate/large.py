"""Large-count forms on an MPI that lacks them: MPI_X_c calls PMPI_X with the counts narrowed.

mpi4py calls MPI_X_c as soon as any library defines it, so a wrapper for it must work under every MPI.
Counts that do not fit an int are refused with an error, as that MPI would have to.
"""

from csrc.generate.standard import Parameter, Procedure

_WIDE = ("MPI_Count", "MPI_Aint")


def _length(p: Procedure, array: str) -> str:
    """Return the C expression for the length of a count or displacement array; 0 if it is not significant."""
    names = [a.name for a in p.parameters]
    if "comm" not in names:
        return f"(size_t){'ndims' if 'ndims' in names else 'count'}"
    sends = array.startswith("s")
    if "eighbor" in p.name:
        return f"large_neighbors(comm, {str(sends).lower()})"
    if "root" in names:
        return "large_at_root(comm, root)"
    if sends:
        return "(sendbuf == abi.in_place ? 0 : large_peers(comm))"
    return "large_members(comm)" if "educe" in p.name else "large_peers(comm)"


def _keeps_arrays(p: Procedure) -> bool:
    """Return True if MPI reads count arrays until a nonblocking or persistent operation is complete."""
    return any(a.name == "request" for a in p.parameters)


def fallback(p: Procedure) -> str:
    """Write the C function `fallback_MPI_X_c`."""
    wide = {a.name: a for a in p.large}
    before, passed, after, arrays = [], [], [], []
    for a in p.parameters:
        b: Parameter = wide[a.name]
        if a.type == "int" and b.type in _WIDE:
            before.append(f"if (large_is_too_large({a.name})) return LARGE_COUNT_ERROR;")
            passed.append(a.name)
        elif a.type == "int*" and b.type.rstrip("*") in _WIDE:
            before.append(f"int narrow_{a.name} = large_read({a.name});")
            passed.append(f"({a.name} ? (word)&narrow_{a.name} : 0)")
            after.append(f"large_write({a.name}, narrow_{a.name});")
        elif a.type == "int[]" and b.type.rstrip("[]") in _WIDE:
            arrays.append(a.name)
            passed.append(f"(word)narrow_{a.name}")
        else:
            passed.append(a.name)
    extra = [n for n in wide if n not in {a.name for a in p.parameters}]
    after += [f"large_write({n}, 0);" for n in extra if wide[n].type.endswith("*")]
    for name in arrays:
        before.append(f"int *narrow_{name} = NULL;")
        before.append(f"if (!large_narrow({name}, {_length(p, name)}, &narrow_{name})) return LARGE_COUNT_ERROR;")
        if not _keeps_arrays(p):
            after.append(f"free(narrow_{name});")
    if _keeps_arrays(p) and arrays:
        after.append(f"owned_give({len(arrays)}, (void *[]){{{', '.join(f'narrow_{n}' for n in arrays)}}});")
    lines = [
        f"static word fallback_{p.name}_c({', '.join(f'word {n}' for n in wide)})",
        "{",
        f'    function narrow_form = large_function("P{p.name}");',
        "    if (!narrow_form) return LARGE_COUNT_ERROR;",
        *(f"    (void){n};" for n in extra),
        *(f"    {line}" for line in before),
        f"    word result = narrow_form({', '.join(passed)});",
        *(f"    {line}" for line in after),
        "    return result;",
        "}",
        "",
    ]
    return "\n".join(lines)
