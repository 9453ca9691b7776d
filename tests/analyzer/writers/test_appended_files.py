"""A file that is put behind another one: the same bytes whatever the system can do."""

import errno
import os

import pytest

from analyzer.atomic_file import append, whole_file


def refused(*_):
    raise OSError(errno.EXDEV, "not here")


def a_little(source, target, count):
    """As a system may do: less than it was asked for, then nothing more."""
    if os.lseek(source, 0, os.SEEK_CUR) > 100_000:
        refused()
    return os.write(target, os.read(source, min(count, 30_000)))


@pytest.mark.parametrize("way", [None, refused, a_little, "missing"])
def test_parts_are_behind_one_another(tmp_path, monkeypatch, way):
    parts = [os.urandom(size) for size in (0, 1, 300_000)]
    for number, part in enumerate(parts):
        (tmp_path / str(number)).write_bytes(part)
    if way == "missing":
        monkeypatch.delattr(os, "copy_file_range", raising=False)
    elif way:
        monkeypatch.setattr(os, "copy_file_range", way, raising=False)
    with whole_file(tmp_path / "whole") as file:
        file.write(b"head")
        for number in range(len(parts)):
            append(tmp_path / str(number), file)
        file.write(b"tail")
    assert (tmp_path / "whole").read_bytes() == b"head" + b"".join(parts) + b"tail"
