"""All levels of a run together: loops on which ranks agree, the cost of each part, and texts about them."""
