"""The files that run.h5 names are those that HDF5 reads from its links, however they are looked for."""

from random import Random

import h5py
import pytest
from h5py import h5l

from analyzer.recording.run.links import files_named_by

RANKS = 1500


@pytest.fixture(params=["earliest", "latest"])
def run(request, tmp_path):
    """A run.h5 most of whose links name a file beside it; some name others, or one of another rank."""
    random = Random(1)
    path = tmp_path / "run.h5"
    with h5py.File(path, "w", libver=request.param) as file:
        links = file.create_group("ranks")
        for rank in range(RANKS):
            usual = f"run.ranks/{rank:06d}.h5"
            other = random.choice([f"elsewhere/{rank:06d}.h5", f"{rank:06d}.h5", f"run.ranks/{rank}.h5", "/a/b.h5"])
            links[f"{rank:06d}"] = h5py.ExternalLink(usual if rank == 0 or random.random() < 0.99 else other, "/")
    return path


def test_links_of_many_ranks(run):
    with h5py.File(run) as file:
        group = file["ranks"]  # while it lives, its links can be asked
        links = group.id.links
        names = [f"{rank:06d}".encode() for rank in range(RANKS)]
        by_hdf5 = {name: links.get_val(name)[0].decode() for name in names}
        assert links.get_info(names[0]).type == h5l.TYPE_EXTERNAL
        assert len({file.rpartition("/")[0] for file in by_hdf5.values()}) > 3
        asked = []

        class Links:
            """Counts what HDF5 is asked for."""

            def get_val(self, name):
                asked.append(name)
                return links.get_val(name)

        assert files_named_by(run, Links(), names, RANKS) == by_hdf5
        assert len(asked) < RANKS / 20
        assert files_named_by(run, Links(), names, RANKS + 1) == by_hdf5
