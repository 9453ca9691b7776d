"""Readers of Paraver's configuration files (.cfg), which they turn into views and histograms."""
