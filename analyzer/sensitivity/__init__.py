"""How a run's time depends on the machine, from replays of one program on many machines."""
