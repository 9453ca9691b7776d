"""Generators of what is made at build time: structs, the file template, the wrappers."""
