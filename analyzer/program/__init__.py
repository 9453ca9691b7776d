"""Programs for the simulator: operations of each rank without the times of a network, as they are kept and handed on.

`operation` is one of them, `program` all of them, `storage` their packed form. `operations` makes them from a trace.
Imports nothing of the analyzer but its errors.
"""
