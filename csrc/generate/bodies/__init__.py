"""What each kind of procedure's wrapper does before and after its call: one file for each family of procedures.

`body.py` has what families share, and the table of who decodes which kind. Here lies C code as text, made of a `Form`.
Which procedure is of which kind lies in `semantics.py`, and what all wrappers have in common in `wrappers.py`.
"""

from csrc.generate.bodies import accesses, communicators, messages, requests, run, timed
from csrc.generate.bodies.body import Body, body_of

__all__ = ["Body", "accesses", "body_of", "communicators", "messages", "requests", "run", "timed"]
