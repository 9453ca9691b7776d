"""How the time of a run depends on the machine: replays of one program on many machines."""
