"""What ranks do over time, in cells: lines of ranks, bins of time, and the share of each state."""
