"""Four ranks on two CPUs: every command says that they wait for one, in the same words, with the same numbers."""

import json
import os
import re

import matrix

SENTENCE = re.compile(r"4 ranks share (1 CPU|2 CPUs) of \S+\. They wait for a CPU during .*? \(by the kernel")
COMMANDS = ("info", "waits", "efficiency", "critical-path")


def test_all_commands_say_that_ranks_wait_for_a_cpu(openmpi, compiled, traced, analyze):
    program = compiled(openmpi, matrix.ROOT / "examples" / "heat.c", "-O2", "-lm")
    two = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    env = {"OMPI_MCA_hwloc_base_binding_policy": "none"}
    steps = ("--size", "256", "--steps", "60")
    run = traced(openmpi, "taskset", "-c", two, str(program), *steps, ranks=4, env=env).run
    said = [" ".join(analyze(command, run).check().stdout.split()) for command in COMMANDS]
    sentences = {SENTENCE.search(text)[0] for text in said}
    assert len(sentences) == 1, sentences
    look, waits, efficiency, path = (json.loads(analyze(c, run, "--json").check().stdout) for c in COMMANDS)
    for name in ("computing_waiting_for_cpu_s", "mpi_without_cpu_s", "mpi_with_cpu_s"):
        assert look[name] == waits[name] == efficiency[name] == path[name]
    assert 0 <= look["computing_waiting_for_cpu_s"] <= look["useful_s"]["total"]
    counted = look["mpi_without_cpu_s"] + look["mpi_with_cpu_s"]
    assert 0 < counted <= look["mpi_s"]["total"] - waits["starting_s"] + 1e-9  # of adding parts of ns
    of_transfer = look["efficiency"]["transfer_waiting_for_cpu_s"]
    assert of_transfer == efficiency["transfer_waiting_for_cpu_s"]
    assert 0 <= of_transfer <= efficiency["runtime_s"] - efficiency["ideal_runtime_s"]
    assert "is MPI itself and the network" not in waits["text"]
