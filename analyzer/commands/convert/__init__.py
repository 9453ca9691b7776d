"""Commands that write a run in another form: for Paraver, for Dimemas, packed."""
