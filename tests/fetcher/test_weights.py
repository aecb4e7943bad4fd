"""Names of weight files: what the numbers in them count, and which no loader takes unasked."""

from pathlib import Path

import pytest
from build import save_tiny

from hfcount.fetcher import Request, fetch
from hfcount.fetcher.weights import incomplete_sets, weights
from hfcount.formats.index import read_index


@pytest.mark.parametrize(
    ("names", "gone", "numbers", "of"),
    [
        ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", [2], 2),
        ("model-00002-of-00002.safetensors", "model-00001-of-00002.safetensors", [1], 2),
        ("model-00000-of-00002.safetensors", "model-00001-of-00002.safetensors", [1], 2),
        ("model-00001-of-000003.safetensors", "model-00002-of-000003.safetensors", [2, 3], 3),
        ("model_00001-of-00002.safetensors", "model_00002-of-00002.safetensors", [2], 2),
        ("pytorch_model-00002-of-00002.bin", "pytorch_model-00001-of-00002.bin", [1], 2),
        ("a-1-of-2.safetensors b-1-of-1.safetensors", "a-2-of-2.safetensors", [2], 2),
    ],
)
def test_files_that_the_names_of_others_count(names: str, gone: str, numbers: list[int], of: int) -> None:
    (found,) = incomplete_sets(names.split())
    assert (found.names[0], found.numbers, found.of) == (gone, numbers, of)


@pytest.mark.parametrize(
    "names",
    [
        "",
        "model.safetensors",
        "model-00001-of-00001.safetensors",
        "model-00001-of-00002.safetensors model-00002-of-00002.safetensors",
        "model-00000-of-00002.safetensors model-00001-of-00002.safetensors",
        "model-00009-of-00002.safetensors",
        "model-mtp-of-00003.safetensors",
        "layers-22.safetensors",
        "model-00001-of-00000.safetensors",
    ],
)
def test_names_that_count_no_others(names: str) -> None:
    assert incomplete_sets(names.split()) == []


def test_a_name_that_counts_a_billion_costs_no_more() -> None:
    (found,) = incomplete_sets(["model-1-of-999999999.safetensors"])
    assert len(found.names) < 10_001


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("consolidated.safetensors", "layout"),
        ("consolidated-00001-of-00002.safetensors", "layout"),
        ("open_clip_model.safetensors", "library"),
        ("adapter_model.safetensors", "adapter"),
        ("pytorch_lora_weights.safetensors", "adapter"),
        ("model.fp16.safetensors", "variant"),
        ("model.fp32-00001-of-00002.safetensors", "variant"),
        ("model.non_ema.safetensors", "variant"),
        ("model.8bit.safetensors", "variant"),
        ("optimizer.safetensors", "training"),
        ("model.layers.0.safetensors", ""),
        ("model.embed_tokens.safetensors", ""),
        ("model-fp16.safetensors", ""),
        ("overlay.safetensors", ""),
    ],
)
def test_files_that_no_loader_takes_unasked(tmp_path: Path, name: str, why: str) -> None:
    folder = save_tiny(tmp_path / "m")
    (folder / name).touch()
    documents = fetch(Request(str(folder)))
    assert documents.index is not None
    found = weights(documents, read_index(documents.index))
    assert ([name] if why else [], [] if why else [name]) == (list(found.apart), list(found.beside))
    assert why in found.apart.get(name, "")
