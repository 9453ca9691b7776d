"""How far predictions are from what was measured, and what of that is the model's and what the measurement's."""
