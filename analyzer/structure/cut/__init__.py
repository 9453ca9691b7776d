"""A small run of some iterations of a large one."""
