"""One page that explains runs: self-contained HTML with charts and a timeline that can be zoomed."""
