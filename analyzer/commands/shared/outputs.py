"""Names of analyzer.results.output_files by which commands know them."""

from analyzer.results.output_files import (
    check_replaceable,
    check_writable,
    checked_picture,
    files_read,
    is_imported,
    output_base,
    stem,
)

__all__ = [
    "check_replaceable",
    "check_writable",
    "checked_picture",
    "files_read",
    "is_imported",
    "output_base",
    "stem",
]
