"""Paraver's configuration files, read for what their windows and histograms mean."""
