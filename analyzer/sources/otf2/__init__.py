"""OTF2 archives, of Score-P and others, as Traces; needs OTF2's own library, which comes with its Python package."""
