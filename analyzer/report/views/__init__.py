"""Views as text, as plain data, as CSV."""
