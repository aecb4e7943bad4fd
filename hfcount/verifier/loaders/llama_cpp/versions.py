"""Lists the versions of llama.cpp that are recorded."""

from functools import cache
from pathlib import Path

LIBRARY = "llama.cpp"
FOLDER = Path(__file__).parents[1]


@cache
def versions() -> tuple[str, ...]:
    """The versions of llama.cpp that are recorded, the oldest first."""
    recorded = [
        path.name.removeprefix(f"{LIBRARY}-").removesuffix(".json") for path in FOLDER.glob(f"{LIBRARY}-*.json")
    ]
    return tuple(sorted(recorded, key=lambda version: [int(part) for part in version.split(".")]))
