"""The template of run.h5: attributes and a group `ranks` whose header the runtime writes behind it.

The group is one version 1 object header: a Link Info message that says "links are stored here", then a Link
message for each rank (HDF5 File Format Specification, IV.A.2.c and IV.A.2.g). h5py makes the rest.
"""

import struct
import tempfile
from pathlib import Path

import h5py
import numpy as np
from h5py import h5f, h5p

_EOF_AT = 40  # superblock version 0
_SIZE, _CREATED = 0x5EED0A1B2C3D2000, 0x5EED0A1B2C3D2001
_LINK_INFO = struct.pack("<BBQQ", 0, 0, 2**64 - 1, 2**64 - 1)
MOST = 65000  # links; an object header counts its messages in 16 bits


def make(schema) -> tuple[bytes, dict[str, int]]:
    """Make the first bytes of run.h5 and the places of its numbers; the header of `ranks` begins right behind them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.h5"
        fapl = h5p.create(h5p.FILE_ACCESS)
        fapl.set_libver_bounds(h5f.LIBVER_EARLIEST, h5f.LIBVER_V18)
        with h5py.File(h5f.create(str(path).encode(), h5f.ACC_TRUNC, fapl=fapl)) as f:
            f.attrs["schema_version"] = np.uint64(schema.VERSION)
            f.attrs["size"] = np.uint64(_SIZE)
            f.attrs["created_realtime_ns"] = np.uint64(_CREATED)
            group = h5py.h5o.get_info(f.create_group("ranks").id).addr
        image = bytearray(path.read_bytes())
    image += bytes(-len(image) % 8)
    at = {"size": _find(image, _SIZE), "created": _find(image, _CREATED), "end_of_file": _EOF_AT}
    header_at = _find(image, group)
    # The symbol table entry also caches the old header's B-tree and heap: cache type 0 forgets them.
    struct.pack_into("<QI", image, header_at, len(image), 0)
    return bytes(image), at


def _find(image: bytes, number: int) -> int:
    word = struct.pack("<Q", number)
    at = image.find(word)
    if at < 0 or image.find(word, at + 1) >= 0:
        raise RuntimeError("template of run.h5: a number does not stand exactly once in the file")
    return at


def c_header(image: bytes, at: dict[str, int]) -> str:
    """Write the template as C."""
    places = "".join(f"    LINKS_AT_{n.upper()} = {a},\n" for n, a in at.items())
    info = ", ".join(str(b) for b in _LINK_INFO)
    rows = ",\n    ".join(", ".join(str(b) for b in image[i : i + 24]) for i in range(0, len(image), 24))
    return f"""enum {{
    LINKS_BYTES = {len(image)},
    LINKS_MOST = {MOST},
{places}}};
#ifdef LINKS_TEMPLATE
static const unsigned char links_info[] = {{{info}}};
static const unsigned char links_bytes[] = {{
    {rows}
}};
#endif
"""
