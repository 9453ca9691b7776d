"""Many replays of the same runs on machines with random parameters, shared by all processes of a team."""
