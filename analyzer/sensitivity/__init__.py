"""Dependence of a run's time on the machine: replays of one program on many machines."""
