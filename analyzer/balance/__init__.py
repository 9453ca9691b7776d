"""Distribute work over unequal machines: by models of the machines, or by what one traced run shows."""
