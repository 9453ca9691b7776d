"""Words that reports share: numbers with units, names of files, the plain table, common sentences."""
