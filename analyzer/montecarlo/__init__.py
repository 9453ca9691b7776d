"""Many replays of the same runs on machines with random parameters, on as many processes as there are."""
