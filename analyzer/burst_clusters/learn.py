"""scikit-learn, imported where it is used: it takes a second, and need not be installed."""

from __future__ import annotations

from typing import Any

from analyzer.errors import TracelibError


def learn() -> Any:
    """The module with `cluster`. Raises TracelibError where it is not installed."""
    try:
        import sklearn.cluster
    except ImportError as error:
        raise TracelibError("scikit-learn is not installed", "pip install 'tracelib[clusters]'") from error
    return sklearn
