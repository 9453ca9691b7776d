"""Structure of a run: its phases, the iterations of its loops, and the loops inside these.

`iterations` is the interface; `levels` finds all levels. `signals` (quantities over time), `perturbations` (times that
are not the program's), `wavelets` (where the program computes and communicates), `period` (length of a repeat), `calls`
(calls that repeat), `cut` (a small run of some iterations), `graph` (the program's graph).

Source: M. Casas, "Spectral analysis of executions of computer programs and its applications on performance analysis"
(UPC 2009), chapter 3.
"""
