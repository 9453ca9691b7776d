"""The language of candidate terms: `parsing` reads a term as a `Product`, `language` reads descriptions of many."""
