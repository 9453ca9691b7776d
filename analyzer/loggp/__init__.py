"""The LoOgGP family of network models: from measurements to parameters, and what they predict."""
