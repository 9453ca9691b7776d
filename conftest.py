"""In which order all tests run, and how many examples hypothesis tries for a property that does not say so."""

import pytest
from hypothesis import HealthCheck, settings

EXAMPLES = {"here": 50, "few": 15}
"""In continuous integration they are the same ones each time. `few` is for what is slow."""

for name, examples in EXAMPLES.items():
    settings.register_profile(
        name,
        settings.get_profile(settings.get_current_profile_name()),
        max_examples=examples,
        deadline=None,  # a test is right on a busy machine, too
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("here")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: a file that takes half a minute or more, and so begins before the others")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A worker that began with a long file when all others are done would leave the other processors idle."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
