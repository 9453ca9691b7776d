"""The best subsets of given terms: `exact` tries all, `genetic` searches where all are too many; `space` prepares them.

Both give a `Selection`.
"""
