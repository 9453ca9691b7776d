"""Fit of the coefficients of given terms: least squares, with or without conditions, criteria, cross-validation."""
