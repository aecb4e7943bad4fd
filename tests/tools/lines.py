"""Writes what is recorded of a library, one type a line, so that one can be read without the others."""

import json
from collections.abc import Mapping
from typing import Any


def text(library: str, version: str, rows: Mapping[str, Any]) -> str:
    """The file of a library in a version."""
    lines = [f"{json.dumps(kind)}: {json.dumps(row, separators=(',', ':'))}" for kind, row in rows.items()]
    head = f'{{"library": "{library}", "version": "{version}", "types": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"
