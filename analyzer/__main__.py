"""`python -m analyzer`, for where the script is not on the PATH."""

from analyzer.cli import command

command()
