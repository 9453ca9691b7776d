"""`analyzer.open`, and the run that it gives."""

from __future__ import annotations

from analyzer.arguments import Count
from analyzer.interface.analyses import Analyses
from analyzer.interface.choices import IterationArgument, PathArgument, RanksArgument, TimeArgument
from analyzer.interface.predictions import Predictions
from analyzer.interface.recorded_tables import RecordedTables
from analyzer.interface.written_files import WrittenFiles


def open_run(
    path: PathArgument,
    *,
    ranks: RanksArgument | None = None,
    cluster: Count | None = None,
    loop: Count | None = None,
    iteration: IterationArgument | None = None,
    place: str | None = None,
    repair_clocks: TimeArgument | None = None,
) -> Run:
    """Open a run: run.h5, its folder run.ranks, a Paraver trace, a Dimemas trace or an OTF2 archive.

    This is for one process. Under mpirun each process would analyze all of the run; `mpirun analyze` shares the work.

    Args:
        path: Path of the run.
        ranks: Read only these ranks: 3, "0-63,1000" or [0, 1, 2]. None: all.
        cluster: Count only the bursts of this cluster (see `Run.clusters`) as computing. None: all bursts.
        loop: Only this loop, by its number in `Run.structure`; 1 is the main one. None: the whole run.
        iteration: Only these iterations of the main loop: 113 or "10-20"; "2:14" is iteration 14 of loop 2.
        place: Only calls through places that this regular expression finds: functions, file:line, modules. Methods for
            which a part of the calls has no meaning say so.
        repair_clocks: Move times so that each message takes at least this long: "2us", or ns. None: leave them.

    Returns:
        The run, a context manager: `with analyzer.open("run.h5") as run:`.

    Raises:
        TracelibError: The file is missing, damaged or no trace, or a choice does not fit the run.
    """
    return Run(
        path, ranks=ranks, cluster=cluster, loop=loop, iteration=iteration, place=place, repair_clocks=repair_clocks
    )


class Run(RecordedTables, Analyses, Predictions, WrittenFiles):
    """An opened run, or the part of it that was chosen.

    Each method computes what the `analyze` command of its name prints, and its parameters are named as the options.
    """
