"""How much predictions differ from measured times, and how much of that comes from the model and the measurement."""
