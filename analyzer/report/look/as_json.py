"""The first look for `--json`. Times are in s, sizes in bytes, shares are fractions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from analyzer.efficiency.factors import AdditiveEfficiency, Efficiency
from analyzer.efficiency.scaling import Scaling
from analyzer.metrics.accesses import AccessTotals
from analyzer.metrics.collectives import CollectiveTotals
from analyzer.metrics.messages import Messages
from analyzer.metrics.profile import Profile
from analyzer.metrics.regions import RegionProfile
from analyzer.report.look.finding_sentences import findings_json
from analyzer.report.look.measurements import counters_json, ipc_json, measuring_json, samples_json, system_json
from analyzer.report.look.program_parts import iterations_json, places_json
from analyzer.report.look.summary import Summary
from analyzer.report.waits import waiting_json
from analyzer.report.words.clocks import clocks_json, repair_json
from analyzer.report.words.cpus import cpus_json
from analyzer.report.words.left_out import left_out_text
from analyzer.report.words.replays import basis_text
from analyzer.trace import Chosen, Communicator, Losses, Trace
from analyzer.trace.chosen import unreadable
from analyzer.trace.error_classes import error_name


def summary_json(summary: Summary) -> dict[str, Any]:
    """Return a summary as `analyze look --no-files --json` prints it."""
    trace, bursts = summary.trace, summary.bursts
    present = summary.present
    useful, inside = summary.useful.by_rank()[present], summary.mpi_ns[present]
    return {
        "file": str(trace.path),
        "command": trace.origin.command,
        "ranks": trace.size,
        "missing": unreadable(trace.extra(Losses).missing, trace.extra(Chosen).ranks),
        "chosen": trace.extra(Chosen).ranks,
        "nodes": list(trace.nodes.names),
        "shared_cpus": [asdict(shared) for shared in summary.cpus.sharing],
        "runtime_s": trace.duration_ns / 1e9,
        "findings": findings_json(summary),
        "useful_s": {"total": float(useful.sum()) / 1e9, **_spread(useful)},
        "mpi_s": {"total": float(inside.sum()) / 1e9, **_spread(inside)},
        "efficiency": efficiency_json(summary.efficiency, summary.transfer_waits_ns),
        **cpus_json(summary.cpus),
        "waits": waiting_json(summary.waits),
        "bursts": {
            "count": bursts.count,
            "time_s": bursts.time_ns / 1e9,
            "mean_s": bursts.mean_ns / 1e9,
            "max_s": bursts.longest_ns / 1e9,
            "percentiles_s": {str(p): ns / 1e9 for p, ns in bursts.percentiles_ns.items()},
        },
        "structure": iterations_json(summary),
        "regions": [_region(summary.regions, r) for r in summary.regions.by_time()],
        "place": summary.place or None,
        "calls": _calls(summary.shown, present),
        "places": places_json(summary.from_places, summary.places),
        "collectives": [_collective(c, trace.communicators[c.comm]) for c in summary.collectives],
        "messages": _messages(summary.messages),
        "matrix": {
            "ranks_a_block": summary.messages.ranks_a_block,
            "count": summary.messages.matrix_count.tolist(),
            "bytes": summary.messages.matrix_bytes.tolist(),
        },
        "flushes": {
            "count": int(summary.flushes.count.sum()),
            "time_s": float(summary.flushes.time_ns.sum()) / 1e9,
            "mode": "subtract" if trace.origin.tracer_times else "keep",
            "computing_s": summary.flushes.computing_ns / 1e9,
        },
        "tracer": {
            "time_s": float(summary.tracer_ns[present].sum()) / 1e9,
            "after_calls_s": float(summary.useful.tracer_by_rank()[present].sum()) / 1e9,
        },
        "drivers": measuring_json(summary),
        "cpu_waits_s": float(summary.cpu_waits_ns.sum()) / 1e9,
        "counters": counters_json(summary.counted, present),
        "ipc": ipc_json(summary.counted, present),
        "samples": samples_json(trace),
        "system": system_json(summary.system),
        "unrecorded": {
            "time_s": float(summary.unrecorded.time_ns.sum()) / 1e9,
            "dropped_calls": summary.unrecorded.calls,
            "partners": summary.unrecorded.partners,
            "summed_calls": summary.unrecorded.summed,
        },
        "clocks": clocks_json(trace),
        "repair": repair_json(trace),
        "windows": [_accessed(a, trace) for a in summary.accesses if a.object.kind == "window"],
        "files": [_accessed(a, trace) for a in summary.accesses if a.object.kind == "file"],
        "errors": [
            {"rank": f.rank, "call": f.procedure, "class": f.class_, "name": error_name(f.class_), "count": f.count}
            for f in summary.failed
        ],
        "unmatched": [asdict(u) for u in summary.unmatched],
        "one_sided": trace.extra(Chosen).one_sided(),
        "elsewhere": [asdict(u) for u in summary.elsewhere],
        "relatives": [asdict(r) for r in summary.relatives],
        "ending": list(trace.extra(Losses).ending),
        "left_out": trace.extra(Losses).left_out or None,
        "problems": [{"rank": p.rank if p.rank >= 0 else None, "text": p.text} for p in trace.problems],
    }


def efficiency_json(
    efficiency: Efficiency, transfer_waits_ns: int | None = None, *, additive: bool = False
) -> dict[str, Any]:
    """Return the efficiency factors for JSON, with the times from which they are computed.

    Args:
        efficiency: The factors.
        transfer_waits_ns: Upper bound in ns of waiting for a CPU within the gain of an ideal network. None: not known.
        additive: Whether factors have the additive form (PyPOP).
    """
    form = AdditiveEfficiency(efficiency) if additive else efficiency
    ideal = efficiency.ideal
    return {
        "form": "additive" if additive else "multiplicative",
        "parallel_efficiency": form.parallel_efficiency,
        "load_balance": form.load_balance,
        "communication_efficiency": form.communication_efficiency,
        "serialization_efficiency": form.serialization_efficiency,
        "transfer_efficiency": form.transfer_efficiency,
        "micro_load_balance": efficiency.micro_load_balance,
        "real_communication_efficiency": efficiency.real_communication_efficiency,
        "runtime_s": efficiency.runtime_ns / 1e9,
        "ideal_runtime_s": _seconds(ideal.runtime_ns),
        "ideal_runtime_by": basis_text(cpu_time=False),
        "transfer_waiting_for_cpu_s": _seconds(transfer_waits_ns),
        "ideal_useful_max_s": _seconds(ideal.useful_ns),
        "ideal_eager_limit_bytes": ideal.eager_limit,
        "not_replayed": ideal.reason or None,
        "incomplete": left_out_text(ideal),
    }


def scaling_json(scaling: Scaling) -> dict[str, float | None]:
    """Return the scaling factors of a run relative to a reference run, for JSON."""
    return asdict(scaling)


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / 1e9


def _spread(ns: np.ndarray) -> dict[str, float]:
    if not len(ns):
        return {"mean": 0.0, "max": 0.0, "min": 0.0}
    return {"mean": float(ns.mean()) / 1e9, "max": int(ns.max()) / 1e9, "min": int(ns.min()) / 1e9}


def _calls(profile: Profile, present: np.ndarray) -> dict[str, dict[str, Any]]:
    return {
        profile.procedures[p]: {
            "count": int(profile.count[:, p].sum()),
            "time_s": int(profile.inside_ns[:, p].sum()) / 1e9,
            "sent_bytes": int(profile.sent[:, p].sum()),
            "received_bytes": int(profile.received[:, p].sum()),
            "per_rank": {
                "count": _plain_spread(profile.count[present, p]),
                "time_s": _spread(profile.inside_ns[present, p]),
                "sent_bytes": _plain_spread(profile.sent[present, p]),
                "received_bytes": _plain_spread(profile.received[present, p]),
            },
        }
        for p in profile.by_time()
    }


def _accessed(accessed: AccessTotals, trace: Trace) -> dict[str, Any]:
    one = accessed.object
    return {
        "name": one.name,
        "communicator": trace.communicators[one.comm].label if one.comm >= 0 else None,
        "bytes": one.bytes,
        "calls": accessed.calls,
        "time_s": accessed.time_ns / 1e9,
        "sent_bytes": accessed.sent,
        "received_bytes": accessed.received,
    }


def _region(regions: RegionProfile, region: int) -> dict[str, Any]:
    entered = regions.count[:, region] > 0
    columns = {"time_s": regions.time_ns, "useful_s": regions.useful_ns, "mpi_s": regions.mpi_ns}
    times = {name: ns[:, region] for name, ns in columns.items()}
    return {
        "name": regions.names[region],
        "count": int(regions.count[:, region].sum()),
        "ranks": int(entered.sum()),
        "load_balance": regions.balance(region),
        **{name: {"total": int(ns.sum()) / 1e9, **_spread(ns[entered])} for name, ns in times.items()},
    }


def _plain_spread(values: np.ndarray) -> dict[str, float]:
    return {"mean": float(values.mean()), "max": int(values.max()), "min": int(values.min())}


def _collective(collective: CollectiveTotals, communicator: Communicator) -> dict[str, Any]:
    return {
        "communicator": communicator.label,
        "size": len(communicator.members) + len(communicator.remote),
        "call": collective.procedure,
        "count": collective.calls,
        "time_s": collective.time_ns / 1e9,
        "sent_bytes": collective.sent,
        "received_bytes": collective.received,
    }


def _messages(messages: Messages) -> dict[str, Any]:
    used = np.flatnonzero(messages.size_count).tolist()
    return {
        "count": messages.count,
        "bytes": messages.bytes,
        "arrows_inside_tasks": messages.arrows,
        "sizes": [
            {
                "from_bytes": 1 << (k - 1) if k else 0,
                "to_bytes": (1 << k) - 1,
                "count": int(messages.size_count[k]),
                "bytes": int(messages.size_bytes[k]),
            }
            for k in used
        ],
        "received_before_sent": messages.backwards,
    }
