"""Which calls of a rank repeat: the sequence of calls says how often a loop was passed, whatever its times do."""
