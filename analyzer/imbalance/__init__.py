"""What sums over a run hide: how evenly ranks and iterations compute, and ranks that compute one after the other."""
