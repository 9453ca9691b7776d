"""Studies of any program: its inputs are drawn at random, its runs ("shots") are spread over hosts, its results kept.

Source: "Dimemas specification", section 1.17 (Girona 2003, chapter 5: Promenvir, later ST-ORM).
"""
