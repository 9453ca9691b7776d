"""Tables of experiments: what runs did under which factors, for models to be fitted to."""
