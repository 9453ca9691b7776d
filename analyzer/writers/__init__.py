"""Writers of traces in other file formats."""
