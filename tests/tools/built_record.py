"""Merges what built_values.py notes of each version into hfcount/mapper/built.json."""

import json
from pathlib import Path

from loading import Json

FILE = Path(__file__).parents[2] / "hfcount" / "mapper" / "built.json"
VERSIONS = ("5.23.0", "4.57.1")
"""The older versions that are recorded, the newest of them first."""

RECORDED = ("refused", "same", "uneven", "taken", "mixed")
"""What is recorded of a type."""

OLDER = ("taken", "mixed")
"""What is recorded of older versions alone, in rows of several shapes."""


def noted(notes: Path) -> list[Json]:
    return [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []


def merged(folder: Path, newest: str) -> dict[str, Json]:
    """What is recorded of each type: of the newest version all, of an older one what differs.

    A type that is not noted of a version stays as it is in built.json.
    """
    rows, noted_of = _expanded(newest), set[tuple[str, str]]()
    for notes in sorted(folder.glob("*.jsonl"), reverse=True):
        for note in noted(notes):
            for kind, row in note.get("rows", {}).items():
                if (kind, notes.stem) not in noted_of:
                    noted_of.add((kind, notes.stem))
                    rows.setdefault(kind, {})[notes.stem] = {}
                _add(rows[kind][notes.stem], row)
    return {kind: found for kind, row in sorted(rows.items()) if (found := _differences(row, newest))}


def _expanded(newest: str) -> dict[str, Json]:
    """What is recorded, of each version whole."""
    rows: dict[str, Json] = json.loads(FILE.read_text())["types"]
    for kind, row in rows.items():
        usual = row.get(newest, {})
        for version, own in row.items():
            if own is not None:
                own |= {what: _by_shape(own.get(what, {})) for what in OLDER}
                whole_ = {what: {**usual.get(what, {}), **own.get(what, {})} for what in RECORDED}
                row[version] = {
                    what: {key: value for key, value in found.items() if value} for what, found in whole_.items()
                }
        rows[kind] = {version: row.get(version, usual) for version in (newest, *VERSIONS)}
    return rows


def _add(row: Json, more: Json) -> None:
    """Adds what was found of a type within another."""
    for what, values in more.items():
        known = row.setdefault(what, {})
        for form, keys_ in values.items():
            known[form] = (
                keys_ if what == "uneven" else " ".join(sorted({*known.get(form, "").split(), *keys_.split()}))
            )


def _differences(row: Json, newest: str) -> Json:
    """A type's row: that of the newest version, and of others what differs; null where they were not asked."""
    usual = {what: found for what, found in (row.get(newest) or {}).items() if found}
    found: Json = {newest: usual} if usual else {}
    for version in VERSIONS:
        own = row.get(version)
        if own is None:
            found |= {version: None} if usual else {}
        elif other := _difference(usual, own):
            found[version] = {**other, **{what: _joined(other[what]) for what in OLDER if what in other}}
    return found


def _difference(usual: Json, own: Json) -> Json:
    """The forms, and keys of numbers of heads, for which an older version has others than the newest."""
    found: Json = {}
    for what in RECORDED:
        now, before = usual.get(what, {}), own.get(what, {})
        if changes := {form: before.get(form, "") for form in now | before if now.get(form) != before.get(form)}:
            found[what] = changes
    return found


def _joined(rows: Json) -> Json:
    """Keys by shape, those together that are alike in several shapes."""
    shapes: dict[str, list[str]] = {}
    for shape, keys in rows.items():
        for key in keys.split():
            shapes.setdefault(key, []).append(shape)
    found: Json = {}
    for key, names in sorted(shapes.items()):
        row = " ".join(sorted(names))
        found[row] = f"{found[row]} {key}" if row in found else key
    return found


def _by_shape(rows: Json) -> Json:
    """Keys by shape, of rows with several shapes."""
    found: dict[str, set[str]] = {}
    for shapes, keys in rows.items():
        for shape in shapes.split():
            found.setdefault(shape, set()).update(keys.split())
    return {shape: " ".join(sorted(keys)) for shape, keys in found.items()}
