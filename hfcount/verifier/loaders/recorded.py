"""Reads the files that record what a library does, one for each version: LIBRARY-VERSION.json, in this folder."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def versions(library: str) -> tuple[str, ...]:
    """The versions of a library that are recorded, the oldest first."""
    names = (path.name.removeprefix(f"{library}-") for path in _FOLDER.glob(f"{library}-*.json"))
    recorded = (name.removesuffix(".json") for name in names)
    return tuple(sorted(recorded, key=lambda version: [int(part) for part in version.split(".")]))


@cache
def file(library: str, version: str) -> bytes:
    """The file of a version.

    Raises:
        KeyError: nothing is recorded of this version.
    """
    if version not in versions(library):
        raise KeyError(version)
    return (_FOLDER / f"{library}-{version}.json").read_bytes()
