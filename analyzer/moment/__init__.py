"""What each thread of a rank did at a moment, and what was around it."""
