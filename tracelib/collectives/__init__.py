"""Times collectives from one rank to all: MPI's own, and broadcasts along trees of point-to-point messages."""
