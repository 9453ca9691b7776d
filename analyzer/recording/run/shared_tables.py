"""Tables that hold for all ranks of a run, merged from the tables of each rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analyzer.recording.rank_file.file import RankFile
from analyzer.recording.run.shared_objects import Labels, merge_communicators, merge_labels, merge_objects
from analyzer.recording.thread_records.displacements import Units, uneven_windows
from analyzer.recording.thread_records.procedures import ProcedureTable, merge_procedures, procedure_tables
from analyzer.trace import Communicator, SharedObject


@dataclass(frozen=True)
class SharedTables:
    """Procedures, communicators, objects and labels of a run, and the indices by which rows of ranks refer to them."""

    procedures: tuple[str, ...]
    procedure_tables: Mapping[int, ProcedureTable]  # by `id` of a file's tuple `procedures`
    communicators: tuple[Communicator, ...]
    communicator_index: Mapping[int, np.ndarray]  # by rank, then by row: index in `communicators`
    objects: tuple[SharedObject, ...]
    object_index: Mapping[int, np.ndarray]  # by rank, then by row: index in `objects`
    uneven: Mapping[int, Mapping[int, Units]]  # by rank: RMA windows whose displacement units differ
    labels: Labels

    @property
    def region_numbers(self) -> Mapping[int, tuple[np.ndarray, np.ndarray]]:
        """By rank: the numbers in the run of its regions, and of its parameters. Empty if the run has neither."""
        return self.labels.numbers if self.labels.regions or self.labels.parameters else {}


def merge_tables(files: Sequence[RankFile], size: int) -> SharedTables:
    """Merge the tables of all rank files of a run. `size` is its number of ranks."""
    procedures = merge_procedures(files)
    communicators, communicator_index = merge_communicators(files, size)
    objects, object_index = merge_objects(files, communicator_index)
    return SharedTables(
        procedures, procedure_tables(files, procedures), communicators, communicator_index, objects, object_index,
        uneven_windows(files), merge_labels(files),
    )  # fmt: skip
