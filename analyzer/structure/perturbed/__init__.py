"""Times in which a run is disturbed by what is neither the program nor the machine: flushes, lost CPUs, a network that
others fill."""
