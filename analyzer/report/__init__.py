"""Reports: results as text, for JSON and as pictures. Nothing here computes results."""
