"""Clusters of CPU bursts that are alike in duration and counters, on any rank and at any time.

Sources: M. Casas, "Spectral analysis of executions" (2009), section 5.4 (k-means); J. Gonzalez, J. Gimenez and J.
Labarta, "Automatic detection of parallel applications computation phases" (2009) (DBSCAN on bursts). Groups of ranks
that behave alike are found elsewhere: `analyzer.metrics.clusters`.
"""
