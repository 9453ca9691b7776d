"""Programs for the simulator: the operations of each rank, without the times of a network.

Module `operation` defines an operation, `model` a program, `storage` their packed form, and `files` programs in files.
The package `analyzer.operations` makes programs from traces.
"""
