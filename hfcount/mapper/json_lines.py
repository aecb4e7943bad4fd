"""JSON files with a line for each of transformers' types or classes, of which a run needs a few."""

import json
from typing import Any


def of_kind(file: bytes, kind: str) -> Any:
    """The object in the line of a type or class; None if the file has none. The rest is not decoded."""
    start = file.find(f"\n{json.dumps(kind)}: ".encode()) if kind else -1
    return None if start < 0 else _first(file[start : file.index(b"\n", start + 1)].decode())


def of_all(file: bytes) -> Any:
    """What the first line says of all."""
    return _first(file[1 : file.index(b"\n")].decode())


def _first(text: str) -> Any:
    return json.JSONDecoder().raw_decode(text, text.index("{"))[0]
