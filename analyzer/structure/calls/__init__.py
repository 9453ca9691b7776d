"""Loops in the sequence of a rank's calls: the sequence shows how often a loop was passed, whatever its times are."""
