"""What a run is made of: its phases, the iterations of its loops, and the loops inside these.

`iterations` is the interface; `structure` finds all levels. Rooms: `signals` (what varies over time), `perturbed`
(times that are not the program's), `phase` (where it computes and communicates), `period` (how long a repeat takes),
`calls` (which calls repeat), `levels` (all of it together), `cut` (a small run of some iterations).

Source: M. Casas, "Spectral analysis of executions of computer programs and its applications on performance analysis"
(UPC 2009), chapter 3.
"""
