"""Examples of docs/extending.md, as another package brings them."""
