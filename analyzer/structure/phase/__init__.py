"""Where a program computes and communicates in turn: by wavelets."""
