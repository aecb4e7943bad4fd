"""What a file may take by the names that the index puts there: bounds that no sound file is beyond, and close ones."""

import json
from math import prod
from pathlib import Path
from typing import Any

import pytest
from build import FAMILIES, config, index
from defects import in_blocks, raw, sharded

import hfcount
from hfcount.fetcher.weights import Weights
from hfcount.formats.index import Index, read_index
from hfcount.formats.json import Document
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.file_sizes import SPARE, Extent, extents

Shapes = dict[str, tuple[int, ...]]


def extent(values: dict[str, Any], shapes: Shapes | None = None) -> Extent:
    """That of the one file of a config's checkpoint, with an index that is exact."""
    listed = index(values)
    if shapes is not None:
        size = 2 * sum(map(prod, shapes.values()))
        listed = {"metadata": {"total_size": size}, "weight_map": dict.fromkeys(shapes, "model.safetensors")}
    read: Index = read_index(Document("index", json.dumps(listed).encode()))
    weights = Weights(read.shards, dict.fromkeys(read.shards, 1), whole=True)
    comparison = Comparison.of(hfcount.blueprint(values), read, None, (), match=None, listing=weights)
    found = extents(comparison, read.weight_map)
    assert found is not None
    (one,) = found.values()
    return one


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_reference_writes_is_between_the_bounds(family: str) -> None:
    values = config(family)
    shapes = {one.name: tuple(map(int, one.shape)) for one in hfcount.blueprint(values).tensors()}
    file = raw({name: ("BF16", shape) for name, shape in shapes.items()})
    found = extent(values)
    assert (found.tensors, found.data) == (len(shapes), 2 * sum(map(prod, shapes.values())))
    assert found.least <= len(file) <= found.greatest - SPARE + 40
    assert len(file) - found.least < 10 * len(shapes)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("dtype", ["F16", "BF16"])
def test_no_order_or_spacing_is_beyond_the_bounds(separators: tuple[str, str], order: int, dtype: str) -> None:
    """With as few bytes as the format allows: no metadata, no padding, any order of the data."""
    values = config("mixtral", num_hidden_layers=12)
    rows = [(one.name, tuple(map(int, one.shape))) for one in hfcount.blueprint(values).tensors()]
    header, end = {}, 0
    for name, shape in sorted(rows, key=lambda row: order * prod(row[1])):
        begin, end = end, end + 2 * prod(shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    size = 8 + len(json.dumps(header, separators=separators)) + end
    found = extent(values)
    assert found.least <= size <= found.greatest - SPARE


def test_names_in_another_spelling_count_as_they_are_listed() -> None:
    values = config("llama")
    shapes = {one.name: tuple(map(int, one.shape)) for one in hfcount.blueprint(values).tensors()}
    bare = {name.removeprefix("model."): shape for name, shape in shapes.items()}
    file = raw({name: ("BF16", shape) for name, shape in bare.items()})
    found = extent(values, bare)
    assert found.tensors == len(bare)
    assert found.least <= len(file) <= found.greatest


def test_packed_tensors_count_by_what_they_are_stored_as(tmp_path: Path) -> None:
    checkpoint = sharded()
    in_blocks(checkpoint)
    report = hfcount.verify(str(checkpoint.write(tmp_path / "m")), depth="index")
    assert report.evidence is not None
    assert report.evidence.files is not None
    assert (report.verdict, report.evidence.files.sized) == ("verified", 3)
