"""Functions that make a value of each thread at each time: of its states, events, messages and calls."""
