"""What reports share: numbers with units, names of files, the plain table, sentences that several of them say."""
