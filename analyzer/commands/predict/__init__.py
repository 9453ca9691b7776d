"""Commands that predict: another machine, faster code, other parameters."""
