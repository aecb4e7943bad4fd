"""Classes of colpali-engine: what they are built around, where it lies in them, and their projection.

Each was compared with what colpali-engine 0.3.18 builds of the same config, name by name.
"""

import json
from typing import Any

import pytest
from paths import ARCHITECTURES

import hfcount

TEXT = "custom_text_proj"
CLASSES: list[tuple[str, str, str, str, int | None]] = [
    ("ColPali", "paligemma", "model.language_model.model.embed_tokens.weight", TEXT, 128),
    ("BiPali", "paligemma", "model.language_model.model.embed_tokens.weight", TEXT, None),
    ("BiPaliProj", "paligemma", "model.language_model.model.embed_tokens.weight", TEXT, 1024),
    ("ColGemma3", "gemma3", "language_model.embed_tokens.weight", TEXT, 128),
    ("BiGemma3", "gemma3", "language_model.embed_tokens.weight", TEXT, None),
    ("ColIdefics3", "idefics3", "model.text_model.embed_tokens.weight", "linear", 128),
    ("BiIdefics3", "idefics3", "model.text_model.embed_tokens.weight", "linear", None),
    ("ColModernVBert", "modernvbert", "model.text_model.embeddings.tok_embeddings.weight", TEXT, 128),
    ("BiModernVBert", "modernvbert", "model.text_model.embeddings.tok_embeddings.weight", TEXT, None),
    ("ColQwen2", "qwen2_vl", "language_model.embed_tokens.weight", TEXT, 128),
    ("BiQwen2_5", "qwen2_5_vl", "language_model.embed_tokens.weight", TEXT, None),
]


def recorded(kind: str) -> dict[str, Any]:
    known: dict[str, Any] = json.loads((ARCHITECTURES / f"{kind}.json").read_text(encoding="utf-8"))["config"]
    return known


@pytest.mark.parametrize(("named", "kind", "table", "projection", "width"), CLASSES)
def test_a_class_is_a_model_and_a_projection(
    named: str, kind: str, table: str, projection: str, width: int | None
) -> None:
    blueprint = hfcount.blueprint({**recorded(kind), "architectures": [named]})
    shapes = {one.name: tuple(map(int, one.shape)) for one in blueprint.tensors()}
    hidden = int(blueprint.spec.hidden)
    assert blueprint.spec.architecture == named
    assert shapes[table][1] == hidden
    if width is None:
        assert not any(name.startswith(projection) for name in shapes)
        return
    assert (shapes[f"{projection}.weight"], shapes[f"{projection}.bias"]) == ((width, hidden), (width,))
    alone = next(one for one, inner, _, _, none in CLASSES if inner == kind and none is None) if kind in BARE else ""
    if alone:
        rest = hfcount.blueprint({**recorded(kind), "architectures": [alone]}).total
        assert blueprint.total == rest + width * hidden + width


BARE = {kind for _, kind, _, _, width in CLASSES if width is None}


def test_the_head_of_paligemma_is_tied_within() -> None:
    blueprint = hfcount.blueprint({**recorded("paligemma"), "architectures": ["ColPali"]})
    assert blueprint.total == hfcount.blueprint(recorded("paligemma")).total + 128 * int(blueprint.spec.hidden) + 128
