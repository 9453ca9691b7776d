"""Coefficients of given terms: least squares, with or without conditions, criteria, and errors on points left out."""
