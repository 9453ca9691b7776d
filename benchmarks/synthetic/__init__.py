"""Traced runs of programs that never ran, of up to 65 536 ranks: the files that the runtime would have written.

    python -m benchmarks.synthetic halo 4096 500 -o FOLDER      writes FOLDER/run.h5 and FOLDER/run.ranks/

Ranks are simulated together, step by step, with numpy (`world.py`). Times are causal: a message arrives after it was
sent, the members of a collective leave after the last has entered. Some ranks compute slower than the others on
purpose (`world.slow_ranks`), so that one can see whether an analysis finds them.
"""
