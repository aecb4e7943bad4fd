"""Whether B is what it is expected to be to A."""

from hfcount.choices import Expected
from hfcount.diffing.model import Diff, Expectation
from hfcount.diffing.relations import Compared


def expectation(expected: Expected, c: Compared, found: Diff) -> Expectation:
    """Whether it is; `met` is None where that cannot be told."""
    if c.matched is None and found.files is None:
        return Expectation(expected=expected, met=None, reason="the two could not be compared")
    return Expectation(expected=expected, met=None, reason="")
