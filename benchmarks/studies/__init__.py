"""`make study`: models of real programs, fitted to some of their runs and compared with the others."""
