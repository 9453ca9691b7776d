import pytest
from study_folder import Folder


@pytest.fixture
def folder(tmp_path):
    """A folder for a study; nothing that was started in it is left."""
    found = Folder(tmp_path)
    yield found
    found.none_left()
