"""Raised where it cannot be said what is written, so that the answer is unknown."""


class Unknown(Exception):
    """Why what is written cannot be said, as a sentence without a full stop."""
