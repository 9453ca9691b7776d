"""Thread functions: a value of each thread at each time, from its states, events, messages and calls."""
