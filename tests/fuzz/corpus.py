"""Makes the good files of a campaign: small ones of every kind, written by the tests' own builders."""

from __future__ import annotations

import gzip
import shutil
import tarfile
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
from paraver_cfg import everything
from paths import DATA
from producers import PRODUCERS
from synthetic_net import LARGE, in_visits, write_net
from system_files import write_samples

from analyzer.cli import main
from analyzer.sources.registry import built_in_sources, installed_sources
from fuzz.contents import (
    CFG,
    COLLECTIVES,
    COLLECTIVES_OF_MACHINES,
    DERIVED,
    EXTRA_P,
    MACHINE,
    MODULES,
    OF_MODELS,
    OPTIONS,
    OTHER,
    VIEWS,
)
from fuzz.plausible import without_offsets
from fuzz.programs import (
    as_the_runtime_writes,
    dim_of_everything,
    killed_run,
    named_run,
    plain_run,
    sampled_run,
    whole_run,
)
from fuzz.seeds import Seed, lines, of_a_cfg, of_a_machine, of_a_run, of_a_table, of_a_trace, of_a_view
from tracelib.schema.net_collectives import BROADCAST, COLLECTIVE

RANK_FILES = ("run.ranks/000000.h5", "run.ranks/000001.h5", "run.ranks/000002.h5")
STUDY = "monte-carlo good.h5 --vary latency=1us..100us --machine machine.toml -n 4 --jobs 1 -o study"
FIT = "fit-machine good.h5 --vary latency=1us..100us --machine machine.toml -n 4 --jobs 1 -o fit"
_OF_OTHERS = "prv-of-"
_OF_SOURCE = "source-"
EXAMPLES = [one for one in (*built_in_sources(), *installed_sources()[0]) if one.example]
"""Sources that say which file to damage; of the others this module makes files."""
OLD = DATA / "version_1.tar.xz"


def build(folder: Path, only: Collection[str] | None = None) -> list[Seed]:
    """The seeds of all kinds, or of some, each in a folder of its own in `folder`."""
    seeds = []
    for kind, maker in MAKERS.items():
        if only is None or kind in only:
            place = folder / kind
            place.mkdir(parents=True)
            seeds.append(maker(kind, place))
    return seeds


def _make(*words: object) -> None:
    """Let a command write a good file."""
    code = main([*map(str, words), "-q"])
    if code:
        raise RuntimeError(f"analyze {' '.join(map(str, words))}: exit code {code}")


def _beside(folder: Path, good: Callable[..., Path] = whole_run) -> None:
    """A good run, and a machine."""
    good(folder, "good")
    (folder / "machine.toml").write_text(MACHINE)


def _folder(kind: str, folder: Path) -> Seed:
    whole_run(folder)
    _beside(folder)
    return Seed(kind, folder, RANK_FILES, of_a_run("run.ranks", "good.h5"))


def _links(kind: str, folder: Path) -> Seed:
    """run.h5 alone is damaged, as h5py writes it."""
    whole_run(folder)
    _beside(folder)
    return Seed(kind, folder, ("run.h5",), of_a_run("run.h5", "good.h5"))


def _links_of_runtime(kind: str, folder: Path) -> Seed:
    """The same as the runtime writes it."""
    as_the_runtime_writes(whole_run(folder))
    _beside(folder)
    return Seed(kind, folder, ("run.h5",), of_a_run("run.h5", "good.h5"))


def _runtime(kind: str, folder: Path) -> Seed:
    as_the_runtime_writes(whole_run(folder, counters=True))
    _beside(folder)
    return Seed(kind, folder, RANK_FILES, of_a_run("run.h5", "good.h5"))


def _compressed(kind: str, folder: Path) -> Seed:
    as_the_runtime_writes(whole_run(folder), compressed=True)
    _beside(folder)
    return Seed(kind, folder, RANK_FILES, of_a_run("run.h5", "good.h5"))


def _plain(kind: str, folder: Path) -> Seed:
    """Make a run that the kernels read without Python between them: rows of one thread."""
    plain_run(folder)
    _beside(folder, plain_run)
    return Seed(kind, folder, RANK_FILES[:2], of_a_run("run.h5", "good.h5"))


def _threads(kind: str, folder: Path) -> Seed:
    """Two threads a rank."""
    plain_run(folder, threads=2)
    _beside(folder, plain_run)
    return Seed(kind, folder, RANK_FILES[:2], of_a_run("run.h5", "good.h5"))


def _rank(kind: str, folder: Path) -> Seed:
    """One rank file by itself."""
    whole_run(folder)
    _beside(folder)
    name = "run.ranks/000001.h5"
    return Seed(kind, folder, (name,), of_a_run(name, "good.h5"))


def _samples(kind: str, folder: Path) -> Seed:
    sampled_run(folder)
    _beside(folder)
    again = lines(
        "analyze hot run.h5 --flame f.svg --collapsed c.txt --speedscope s.json",
        "analyze hot run.h5 --flame f.svg --against good.h5",
        "analyze hot good.h5 --flame f.svg --against run.h5",
        "analyze hot run.h5 --place solve --lines --json",
    )
    return Seed(kind, folder, RANK_FILES[:1], (*of_a_run("run.h5", "good.h5"), *again * 4))


def _names(kind: str, folder: Path) -> Seed:
    """The names of places alone."""
    named_run(folder)
    _beside(folder)
    return Seed(kind, folder, ("run.ranks/places.h5",), of_a_run("run.h5", "good.h5"))


def _packed(kind: str, folder: Path) -> Seed:
    whole_run(folder, counters=True)
    _beside(folder)
    _make("pack", folder / "run.h5", "-o", folder / "packed.h5")
    shutil.rmtree(folder / "run.ranks")
    (folder / "run.h5").unlink()
    return Seed(kind, folder, ("packed.h5",), of_a_run("packed.h5", "good.h5"))


def _spool(kind: str, folder: Path) -> Seed:
    killed_run(folder)
    _beside(folder, plain_run)
    damaged = ("spool/of-1.0", "spool/of-1.0", "run.ranks/000001.h5", "run.h5")
    recover = lines(
        "tracelib recover run.h5", "tracelib recover run.ranks --json", "tracelib recover run.ranks/000001.h5"
    )
    return Seed(kind, folder, damaged, (*of_a_run("run.h5", "good.h5"), *recover * 4))


def _version_1(kind: str, folder: Path) -> Seed:
    with tarfile.open(OLD) as archive:
        archive.extractall(folder, filter="data")
    _beside(folder, plain_run)
    damaged = ("ended.h5", "ended.ranks/000000.h5", "ended.ranks/000001.h5")
    return Seed(kind, folder, damaged, of_a_run("ended.h5", "good.h5"))


def _system(kind: str, folder: Path) -> Seed:
    whole_run(folder)
    _beside(folder)
    write_samples(folder)
    return Seed(kind, folder, ("run.ranks/system-node0.h5",), of_a_run("run.h5", "good.h5"))


def _prv(kind: str, folder: Path) -> Seed:
    _make("prv", whole_run(folder), "-o", folder / "run.prv")
    _beside(folder)
    return Seed(kind, folder, ("run.prv",), of_a_trace("run.prv", "good.h5"))


def _prv_of_threads(kind: str, folder: Path) -> Seed:
    """Only bursts and messages, of two threads a task."""
    _make("prv", plain_run(folder, threads=2), "-o", folder / "run.prv")
    _beside(folder, plain_run)
    return Seed(kind, folder, ("run.prv",), of_a_trace("run.prv", "good.h5"))


def _prv_of_others(kind: str, folder: Path) -> Seed:
    """As another program writes it: `kind` is prv-PRODUCER."""
    (folder / "run.prv").write_text(PRODUCERS[kind.removeprefix(_OF_OTHERS)].text)
    _beside(folder, plain_run)
    further = lines(
        "analyze export run.prv --to otf2 -o written", "analyze pack run.prv", "analyze what run.prv --at 0"
    )
    return Seed(kind, folder, ("run.prv",), (*of_a_trace("run.prv", "good.h5"), *further))


def _labels(kind: str, folder: Path) -> Seed:
    _make("prv", whole_run(folder, counters=True), "-o", folder / "run.prv")
    _beside(folder)
    return Seed(kind, folder, ("run.pcf", "run.row"), of_a_trace("run.prv", "good.h5"))


def _prv_gz(kind: str, folder: Path) -> Seed:
    seed = _prv(kind, folder)
    text = (folder / "run.prv").read_bytes()
    (folder / "run.prv.gz").write_bytes(gzip.compress(text, mtime=0))
    (folder / "run.prv").unlink()
    packed = [[word.replace("run.prv", "run.prv.gz") for word in line] for line in seed.lines]
    return Seed(kind, folder, ("run.prv.gz",), tuple(map(tuple, packed)))


def _dim(kind: str, folder: Path) -> Seed:
    _make("dim", whole_run(folder), "-o", folder / "run.dim")
    _beside(folder)
    return Seed(kind, folder, ("run.dim",), of_a_trace("run.dim", "good.h5"))


def _dim_of_threads(kind: str, folder: Path) -> Seed:
    """And without offsets, which no damaged line fits."""
    _make("dim", plain_run(folder, threads=2), "-o", folder / "run.dim")
    (folder / "run.dim").write_bytes(without_offsets((folder / "run.dim").read_bytes()))
    _beside(folder, plain_run)
    return Seed(kind, folder, ("run.dim",), of_a_trace("run.dim", "good.h5"))


def _any_dim(kind: str, folder: Path) -> Seed:
    dim_of_everything(folder / "run.dim")
    _beside(folder)
    return Seed(kind, folder, ("run.dim",), of_a_trace("run.dim", "good.h5"))


def _dim_gz(kind: str, folder: Path) -> Seed:
    _make("dim", whole_run(folder), "-o", folder / "run.dim")
    text = (folder / "run.dim").read_bytes()
    (folder / "run.dim.gz").write_bytes(gzip.compress(text, mtime=0))
    (folder / "run.dim").unlink()
    _beside(folder)
    return Seed(kind, folder, ("run.dim.gz",), of_a_trace("run.dim.gz", "good.h5"))


def _otf2(kind: str, folder: Path) -> Seed:
    """Definitions and events; what OTF2's library says of them is one line."""
    _make("export", whole_run(folder), "--to", "otf2", "-o", folder / "run")
    _beside(folder)
    damaged = ("run-otf2/traces.otf2", "run-otf2/traces.def", "run-otf2/traces/0.def", "run-otf2/traces/0.evt")
    return Seed(kind, folder, (*damaged, *damaged[-1:] * 4), of_a_trace("run-otf2/traces.otf2", "good.h5"))


def _cfg(kind: str, folder: Path) -> Seed:
    _beside(folder)
    (folder / "a.cfg").write_text(CFG)
    (folder / "collectives.cfg").write_text(COLLECTIVES)
    return Seed(kind, folder, ("a.cfg", "a.cfg", "collectives.cfg"), of_a_machine("a.cfg", "good.h5"))


def _toml(kind: str, folder: Path) -> Seed:
    _beside(folder)
    return Seed(kind, folder, ("machine.toml",), of_a_machine("machine.toml", "good.h5"))


def _model(kind: str, folder: Path) -> Seed:
    """A machine with everything, and the model of a network that it names."""
    _beside(folder)
    _measured(folder)
    _make("loggp", folder / "net.h5", "-o", folder / "net")
    (folder / "models.toml").write_text(OF_MODELS)
    damaged = ("models.toml", "net.inter.json")
    table = lines("analyze table good.h5 --network net.inter.json --message-size 1K --json")
    return Seed(kind, folder, damaged, (*of_a_machine("models.toml", "good.h5"), *table * 2))


def _csv_table(kind: str, folder: Path) -> Seed:
    return _table(kind, folder, "table.csv")


def _xml_table(kind: str, folder: Path) -> Seed:
    return _table(kind, folder, "table.xml")


def _parquet_table(kind: str, folder: Path) -> Seed:
    return _table(kind, folder, "table.parquet")


def _table(kind: str, folder: Path, name: str) -> Seed:
    """A table of experiments as a file."""
    _beside(folder)
    _make("table", folder / "good.h5", "--column", "n=execution", "-o", folder / name)
    return Seed(kind, folder, (name,), of_a_table(name, "good.h5"))


MEASURED = "p,n,time\n" + "".join(f"{p},{n},{n / p + 0.1 * p}\n" for p in (2, 4, 8) for n in (10, 20, 40))
OF_KINDS = "kind,name,run,ranks,threads,nodes,in_ranks,count,time\n" + "".join(
    f"call,{name},r{p},{p},1,1,{p},3,{time}\n"
    for p in (2, 4, 8)
    for name, time in (("MPI_Send", p), ("MPI_Recv", 7 / p))
)


def _extra_p(kind: str, folder: Path) -> Seed:
    """Measurements in the forms of Extra-P."""
    names = []
    for name, text in EXTRA_P.items():
        (folder / name).write_text(text)
        names.append(name)
    fits = [f"analyze fit {name} --region main --predict p=64" for name in names]
    fits += [f"analyze fit {name} --parameters p --observable flops --json" for name in names]
    return Seed(kind, folder, tuple(names), lines(*fits))


def _tuning(kind: str, folder: Path) -> Seed:
    """The collective fine tuning file of Dimemas in all its forms."""
    (folder / "a.cfg").write_text(CFG)
    (folder / "collectives.cfg").write_text(COLLECTIVES_OF_MACHINES)
    readers = lines("analyze machine a.cfg", "analyze machine a.cfg --ranks 3 --json")
    return Seed(kind, folder, ("collectives.cfg",), readers)


def _measurements(kind: str, folder: Path) -> Seed:
    """Make data to fit models to: a table of measurements, and a table of kinds of time; as CSV and as Parquet."""
    (folder / "m.csv").write_text(MEASURED)
    (folder / "kinds.csv").write_text(OF_KINDS)
    _make("table", folder / "m.csv", "-o", folder / "m.parquet")
    fits = lines(
        "analyze fit m.csv --parameters p,n --predict p=16,n=80",
        "analyze fit m.csv --parameters p,n --json --repetitions median",
        "analyze fit m.csv --parameters p,n --terms {n},{1/p}* --physical -o found",
        "analyze fit m.csv --parameters p --terms {p,p^2,log2(p)} --weighting ordinary --criterion bic",
        "analyze fit kinds.csv --at 64",
        "analyze fit kinds.csv --json --terms {ranks,1/ranks}",
        "analyze fit m.parquet --parameters p,n --predict p=1024,n=1e6 --repetitions min",
        "analyze table m.csv m.parquet --column x=n/p+log2(p) --where p>2 --outliers median -o x.parquet",
        "analyze table m.csv m.parquet --parameters p,n --outliers deviation --per run --take min --json",
    )
    return Seed(kind, folder, ("m.csv", "m.csv", "kinds.csv", "m.parquet"), fits)


def _modules(kind: str, folder: Path) -> Seed:
    """Modules, which few commands take."""
    _beside(folder)
    (folder / "modules.toml").write_text(MODULES)
    readers = lines(
        "analyze machine modules.toml --ranks 3 -o written.cfg",
        "analyze machine modules.toml --json",
        "analyze replay good.h5 --machine modules.toml",
        "analyze profile good.h5 --machine modules.toml --json",
    )
    return Seed(kind, folder, ("modules.toml",), readers)


def _measured(folder: Path) -> Path:
    sizes = np.unique(np.geomspace(1, 100_000, 24).astype(int))
    rows = in_visits(LARGE["IB+OpenMPI"], sizes, visits=4)
    rows["pair"] = np.arange(len(rows)) % 2
    return write_net(folder / "net.h5", rows, [(0, 1, "intra"), (0, 2, "inter")])


def _network(kind: str, folder: Path) -> Seed:
    import h5py

    with h5py.File(_measured(folder), "r+") as file:
        for name, dtype, call in (("collectives", COLLECTIVE, b"bcast"), ("broadcasts", BROADCAST, b"binomial")):
            rows = np.zeros(4, dtype)
            rows["ranks"], rows["bytes"], rows["segment_bytes"], rows["segments"] = 2, 4096, 4096, 1
            rows[dtype.names[0]], rows["median_s"], rows["naive_s"], rows["right"] = call, 1e-5, 2e-5, True
            file[name] = rows
    commands = lines(
        "analyze net.h5 -q",
        "analyze loggp net.h5 --detector all",
        "analyze loggp net.h5 --json",
        "analyze loggp net.h5 --detector thesis --pair 0,1 --filter none",
        "analyze loggp net.h5 --detector netgauge --level 1",
        "analyze look --no-files net.h5",
    )
    return Seed(kind, folder, ("net.h5",), commands)


def _journal(kind: str, folder: Path) -> Seed:
    """Samples of a study that was ended, which it goes on from."""
    _beside(folder)
    for study in (STUDY, FIT):
        _make(
            *(folder / word if (folder / word).exists() or word in ("study", "fit") else word for word in study.split())
        )
    path = folder / "study.samples.jsonl"
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines()[:4]))
    for name in ("study.png", "fit.png", "fit.toml"):
        (folder / name).unlink()
    journals = ("study.samples.jsonl", "fit.samples.jsonl")
    return Seed(kind, folder, journals, lines(f"analyze {STUDY}", f"analyze {FIT}"))


def _options(kind: str, folder: Path) -> Seed:
    """The options file of the network's measurement."""
    (folder / "options").write_text(OPTIONS)
    return Seed(kind, folder, ("options",), lines("ngmpi -c options -o none.h5"))


def _swf(kind: str, folder: Path) -> Seed:
    made = folder / "log.swf"
    _make("schedule", "--jobs", 12, "--workloads", 1, "--share", 30, "--policy", "easy", "-o", made)
    return Seed(
        kind, folder, ("log.swf",), lines("analyze schedule log.swf", "analyze schedule log.swf --nodes 5 -o w.swf")
    )


def _own_runs(kind: str, folder: Path) -> Seed:
    (folder / "runs.csv").write_text("nodes,run_s,mine,other\n1,10,11,14\n2,7,6.5,9\n4,100,90,80\n")
    small = "--jobs 20 --workloads 2 --share 30 --policy easy"
    return Seed(kind, folder, ("runs.csv",), lines(f"analyze schedule --runs runs.csv {small}"))


PLAN = "tracelib-plan 1\nranks 3\nspeeds 10 1 2 3\nspeeds 20 1 2 4\nexpect 10 1.5 1.25 2 3\ntimes 10 1.5 1.5 1.25\n"
TIMES = "machine,n,p,time_s,cpu\n" + "".join(f"{m},{n},1,{n * n / 7},old\n" for m in "ab" for n in (1, 2, 3, 4))


def _plan(kind: str, folder: Path) -> Seed:
    _beside(folder)
    (folder / "a.plan").write_text(PLAN)
    read = lines(
        "analyze balance good.h5 --plan a.plan --items 10",
        "analyze balance good.h5 --shares-now a.plan --items 15 -o b.plan",
        "analyze replay good.h5 --shares a.plan",
    )
    return Seed(kind, folder, ("a.plan",), read)


def _machines(kind: str, folder: Path) -> Seed:
    """Times of machine types, and the repository of their models."""
    (folder / "times.csv").write_text(TIMES)
    _make("balance", "--models", folder / "m.json", "--learn", folder / "times.csv")
    read = lines(
        "analyze balance --models m.json --machines a=2,b=1 --size 3 --size 9 -o mix.plan",
        "analyze balance --models m.json --machines a=2,b=1 --size 3 --static 7 --json",
        "analyze balance --models m.json",
        "analyze balance --models m.json --learn times.csv",
    )
    return Seed(kind, folder, ("m.json", "times.csv"), read)


def _paraver_cfg(kind: str, folder: Path) -> Seed:
    """Windows and histograms of Paraver."""
    _beside(folder)
    everything(folder / "a.cfg")
    return Seed(kind, folder, ("a.cfg",), of_a_cfg("a.cfg", "good.h5"))


def _views(kind: str, folder: Path) -> Seed:
    """Views as files, one of which is a part of another."""
    _beside(folder)
    texts = {"my.toml": VIEWS, "derived.toml": DERIVED, "other.toml": OTHER}
    for name, text in texts.items():
        (folder / name).write_text(text)
    read = (line for name in texts for line in of_a_view(name, "good.h5"))
    return Seed(kind, folder, (*texts, "my.toml"), tuple(read))


def _example_of_source(kind: str, folder: Path) -> Seed:
    """The example that a source writes."""
    _beside(folder)
    source = next(one for one in EXAMPLES if one.name == kind.removeprefix(_OF_SOURCE))
    assert source.example is not None
    name = source.example(folder)
    return Seed(kind, folder, (name,), of_a_trace(name, "good.h5"))


MAKERS: dict[str, Callable[[str, Path], Seed]] = {
    "folder": _folder,
    "links": _links,
    "links-runtime": _links_of_runtime,
    "runtime": _runtime,
    "compressed": _compressed,
    "plain": _plain,
    "threads": _threads,
    "rank": _rank,
    "samples": _samples,
    "names": _names,
    "packed": _packed,
    "spool": _spool,
    "version-1": _version_1,
    "system": _system,
    "prv": _prv,
    "prv-threads": _prv_of_threads,
    "prv-gz": _prv_gz,
    "labels": _labels,
    "dim": _dim,
    "dim-threads": _dim_of_threads,
    "dim-any": _any_dim,
    "dim-gz": _dim_gz,
    "otf2": _otf2,
    "cfg": _cfg,
    "toml": _toml,
    "model": _model,
    "modules": _modules,
    "table-csv": _csv_table,
    "table-xml": _xml_table,
    "table-parquet": _parquet_table,
    "measurements": _measurements,
    "extra-p": _extra_p,
    "tuning": _tuning,
    "network": _network,
    "journal": _journal,
    "options": _options,
    "swf": _swf,
    "own-runs": _own_runs,
    "plan": _plan,
    "machines": _machines,
    "paraver-cfg": _paraver_cfg,
    "views": _views,
    **{f"{_OF_OTHERS}{name}": _prv_of_others for name in PRODUCERS},
    **{f"{_OF_SOURCE}{source.name}": _example_of_source for source in EXAMPLES},
}
"""Makers of the files of each kind."""
