"""Trees of descent."""

from __future__ import annotations

import random
from pathlib import Path

from apps.application import Application, lines
from matrix import Leg

TAXA, SITES = 8, 300


def _genes(leg: Leg, folder: Path) -> None:
    """Random sequences, each some letters away from the one before it."""
    drawn = random.Random(5)
    sequence = [drawn.choice("ACGT") for _ in range(SITES)]
    with (folder / "genes.phy").open("w") as file:
        print(TAXA, SITES, file=file)
        for taxon in range(TAXA):
            print(f"taxon{taxon:<5}{''.join(sequence)}", file=file)
            sequence = [drawn.choice("ACGT") if drawn.random() < 0.15 else letter for letter in sequence]


PHYML = Application(
    name="phyml",
    title="a tree of 8 sequences, 8 bootstraps dealt out to the ranks",
    packages=("phyml",),
    prepare=_genes,
    command=("phyml-mpi", "-i", "genes.phy", "-b", "8", "--r_seed", "1", "--no_memory_check", "--quiet"),
    result=lines(r"^\. (?:Log-likelihood|Parsimony|Tree size): .*$", file="genes.phy_phyml_stats.txt"),
)
