"""What the short run takes of a test that has a case for each of some hundred types."""

from collections.abc import Iterable
from typing import Any

import pytest


def spread(cases: Iterable[Any], every: int = 20) -> list[Any]:
    """The cases, as parameters of a test: of these a short run tries each `every`-th, and a long one all."""
    long = pytest.mark.long
    return [case if place % every == 0 else pytest.param(case, marks=long) for place, case in enumerate(cases)]
