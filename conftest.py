"""Set-up of all tests: how signals are taken, their order, and how many examples hypothesis tries.

With MORE_TESTS=N (`make test-more`) every property has N times its examples, and they are new ones each time.
"""

import os
import signal

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

MORE = int(os.environ.get("MORE_TESTS", "1"))


def as_at_a_terminal() -> None:
    """Undo what nohup and the background of a shell do: there SIGHUP and SIGINT are ignored, by children, too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGCHLD):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


as_at_a_terminal()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: a file that takes half a minute or more, and so begins before the others")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A worker that began with a long file when all others are done would leave the other processors idle."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    for item in items if MORE > 1 else ():
        _with_more_examples(item)


def _with_more_examples(item: pytest.Item) -> None:
    """Give a property more examples than it says, chosen anew: where continuous integration has the same each time."""
    test = getattr(item, "obj", None)
    test = getattr(test, "__func__", test)
    if getattr(test, "is_hypothesis_test", False) and not hasattr(test, "_has_more_examples"):
        said = getattr(test, "_hypothesis_internal_use_settings", settings.default)
        test._hypothesis_internal_use_settings = settings(
            said, max_examples=MORE * said.max_examples, derandomize=False, database=None, print_blob=True
        )
        test._has_more_examples = True
