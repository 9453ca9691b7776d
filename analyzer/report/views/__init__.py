"""Views as printed tables, for JSON, and as CSV."""
