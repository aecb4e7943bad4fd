"""Counts that others have published, to the unit: what the Hub counts in a checkpoint, or metadata.total_size.

Each entry of fixtures/published.json holds the facts of a config, the figure, and what is stored beside the parameters:
tied copies, buffers, prediction layers, heads of other classes.
"""

import json
from typing import Any

from paths import FIXTURES
from tables import over

import hfcount

ENTRIES: list[dict[str, Any]] = json.loads((FIXTURES / "published.json").read_text(encoding="utf-8"))


@over("entry", ENTRIES, ids=[f"{entry['model']}-{entry['figure']}" for entry in ENTRIES])
def test_the_published_count_comes_out(entry: dict[str, Any]) -> None:
    blueprint, beside = hfcount.blueprint(entry["config"]), entry["stored_beside"]
    extra = sum(
        leaf.elements
        for leaf in blueprint.leaves
        if leaf.label in beside["kinds"] or leaf.name in beside.get("rows", ())
    )
    extra += sum(leaf.elements for leaf in blueprint.other_heads if leaf.name in beside.get("heads", ()))
    assert blueprint.total == entry["total"]
    assert (blueprint.total + extra) * entry.get("width", 1) == entry["value"]


def test_there_are_many() -> None:
    assert len({entry["model"] for entry in ENTRIES}) > 60
