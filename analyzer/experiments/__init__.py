"""Tables of experiments: measurements of several runs with their parameters, to which models are fitted."""
