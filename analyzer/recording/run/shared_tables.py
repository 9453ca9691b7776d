"""Tables of a run that hold for all of its ranks, merged from the tables of each rank."""

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
    """Procedures, communicators, objects and labels of a run, and how the rows of each rank refer to them."""

    procedures: tuple[str, ...]
    procedure_tables: Mapping[int, ProcedureTable]  # by the `id` of a file's `procedures`
    communicators: tuple[Communicator, ...]
    communicator_index: Mapping[int, np.ndarray]  # by rank, then by row: index in `communicators`
    objects: tuple[SharedObject, ...]
    object_index: Mapping[int, np.ndarray]  # by rank, then by row: index in `objects`
    uneven: Mapping[int, Mapping[int, Units]]  # by rank: its RMA windows with several displacement units
    labels: Labels

    @property
    def region_numbers(self) -> Mapping[int, tuple[np.ndarray, np.ndarray]]:
        """By rank: numbers in the run of its regions and parameters; empty: the run has none."""
        return self.labels.numbers if self.labels.regions or self.labels.parameters else {}


def merge_tables(files: Sequence[RankFile], size: int) -> SharedTables:
    """Merge the tables of the files of a run of `size` ranks."""
    procedures = merge_procedures(files)
    communicators, communicator_index = merge_communicators(files, size)
    objects, object_index = merge_objects(files, communicator_index)
    return SharedTables(
        procedures, procedure_tables(files, procedures), communicators, communicator_index, objects, object_index,
        uneven_windows(files), merge_labels(files),
    )  # fmt: skip
