"""Bodies of wrappers, the C before and after each call: a module for each group of kinds.

All modules of this folder are found: a new one needs no entry. `body.py` has what they share. They make C as text
from a `Form`. Which procedure is of which kind stands in tracelib/schema/procedures.toml, and `wrappers.py` has what
all wrappers have in common.
"""

from importlib import import_module
from pkgutil import iter_modules

from csrc.generate.bodies.body import Body, body_of

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["Body", "body_of"]
