"""The measuring side: the runtime's launcher, the file schema, and the API of a traced program."""
