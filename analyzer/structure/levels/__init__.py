"""All levels of a run together: what all ranks agree on, what each part costs, and how it is said."""
