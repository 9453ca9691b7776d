"""Broadcasts and other collectives as they were measured, beside what models of the network say of them.

`models` predicts broadcasts by the LogGP family, `compared` sets measurements beside predictions. Takes models from
`loggp`; knows nothing of reports.
"""
