"""A campaign of damaged files: every kind of file that a command reads, damaged at random, read by every command that
reads it.

`make fuzz` runs 10 000 of them; the tests a few hundred. What is wanted of a command is one clear line and an exit
code, or an answer; never a traceback, a signal, warnings of libraries, all the memory, or no end.
"""
