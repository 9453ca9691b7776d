"""Pictures of results as PNG files."""
