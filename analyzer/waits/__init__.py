"""Wait states in a measured run, and the delays that cause them.

Sources: "Scalasca performance properties" (what is a wait state of which kind); Böhme, Geimer, Arnold, Voigtlaender and
Wolf, "Identifying the Root Causes of Wait States in Large-Scale Parallel Applications" (what causes it).
"""
