"""Wait states in a measured run, and the delays that cause them.

Sources: "Scalasca performance properties" (the kinds of wait states); Böhme, Geimer, Arnold, Voigtlaender and Wolf,
"Identifying the Root Causes of Wait States in Large-Scale Parallel Applications" (their causes).
"""
