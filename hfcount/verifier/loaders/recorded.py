"""Reads the files that record what a library does, one for each version: LIBRARY-VERSION.json, in this folder."""

import os
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def versions(library: str) -> tuple[str, ...]:
    """The versions of a library that are recorded, the oldest first."""
    start, end = f"{library}-", ".json"
    files = [name for name in _files() if name.startswith(start) and name.endswith(end)]
    recorded = [name.removeprefix(start).removesuffix(end) for name in files]
    return tuple(sorted(recorded, key=lambda version: [int(part) for part in version.split(".")]))


@cache
def _files() -> list[str]:
    return os.listdir(_FOLDER)


@cache
def file(library: str, version: str) -> bytes:
    """The file of a version.

    Raises:
        KeyError: nothing is recorded of this version.
    """
    if version not in versions(library):
        raise KeyError(version)
    return (_FOLDER / f"{library}-{version}.json").read_bytes()
