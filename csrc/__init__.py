"""C sources and what generates C from Python."""
