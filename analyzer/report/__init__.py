"""Turns results into text; knows nothing of how they were computed."""
