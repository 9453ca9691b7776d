"""The language of candidate terms: `product` reads and writes one, `language` makes all of a description."""
