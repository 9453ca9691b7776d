"""Dimemas traces (.dim): text in, a program for the simulator out. They have no times of messages and calls."""
