"""Paraver's configuration files, turned into views and histograms."""
