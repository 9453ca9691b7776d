"""Kinds of CPU bursts: those that are alike in duration and counters, whatever rank and time they are of.

Sources: M. Casas, "Spectral analysis of executions" (2009), section 5.4 (k-means); J. Gonzalez, J. Gimenez and J.
Labarta, "Automatic detection of parallel applications computation phases" (2009) (DBSCAN on bursts). Groups of ranks
that behave alike are another matter: `analyzer.metrics.clusters`.
"""
