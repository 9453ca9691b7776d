"""Who should compute how much on unequal machines: from models of the machines, or from one traced run."""
