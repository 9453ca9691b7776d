"""What is generated at build time: structs, the file template, the wrappers."""
