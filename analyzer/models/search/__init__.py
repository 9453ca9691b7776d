"""The best subsets of given terms: `space` prepares them, `exact` tries all, `genetic` searches where these are too many.

Both give a `Selection`.
"""
