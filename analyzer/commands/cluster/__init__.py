"""Commands for clusters: sharing work among unequal nodes, batch schedulers."""
