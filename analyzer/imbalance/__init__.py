"""Imbalance that sums over a run hide: uneven iterations, and ranks that compute one after the other."""
