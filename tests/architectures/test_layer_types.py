"""Kinds of layers that a config lists: read as transformers reads them, under earlier names and under any other."""

import json
from typing import Any

import pytest
from build import Json
from paths import ARCHITECTURES

import hfcount

# A type, the key of the list, what it says of the second layer, and what that is taken for.
READ = [
    ("glm5_next", "text_config.layer_types", "deepseek_sparse_attention", "indexed_attention"),
    ("glm5_next", "text_config.layer_types", "sliding_attention", "indexed_attention"),
    ("minimax", "layer_types", "attention", "full_attention"),
    ("minimax", "layer_types", "chunked_attention", "full_attention"),
    ("granitemoehybrid", "layer_types", "attention", "full_attention"),
    ("granitemoehybrid", "layer_types", "sliding_attention", "full_attention"),
    ("olmo_hybrid", "layer_types", "sliding_attention", "full_attention"),
    ("kimi_linear", "layer_types", "sliding_attention", "linear_attention"),
    ("bailing_hybrid", "layer_types", "sliding_attention", "linear_attention"),
    ("lfm2", "layer_types", "sliding_attention", "full_attention"),
    ("inkling_text", "layer_types", "full_attention", "hybrid"),
    ("mimo_v2_flash", "layer_types", "attention", "full_attention"),
]


def config(kind: str, key: str, given: list[str]) -> Json:
    values: Json = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    inner: Any = values
    *path, last = key.split(".")
    for step in path:
        inner = inner[step]
    inner[last] = given
    if kind == "glm5_next":
        inner["num_key_value_heads"] = inner["num_attention_heads"]  # which its class wants to be the same
    return values


def listed(kind: str, key: str, word: str) -> Json:
    """A config whose list calls the second layer so, and the others by the first kind of these that it knows."""
    values = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    inner = values["text_config"] if key.startswith("text_config") else values
    count = inner["num_hidden_layers"]
    first = {"lfm2": "conv", "inkling_text": "hybrid_sliding", "mimo_v2_flash": "sliding_attention"}
    given = [first.get(kind, "linear_attention")] * count
    other = "full_attention" if kind in ("kimi_linear", "bailing_hybrid") else given[0]
    given[-1] = other
    return config(kind, key, [word if place == 1 else one for place, one in enumerate(given)])


@pytest.mark.parametrize(("kind", "key", "word", "meant"), READ)
def test_other_kinds_are_read_as_the_reference_reads_them(kind: str, key: str, word: str, meant: str) -> None:
    found = hfcount.blueprint(listed(kind, key, word)).rows()
    assert found == hfcount.blueprint(listed(kind, key, meant)).rows()
    if word not in ("sliding_attention", "chunked_attention") or kind not in ("kimi_linear", "bailing_hybrid"):
        return
    assert found != hfcount.blueprint(listed(kind, key, "full_attention")).rows()


@pytest.mark.long
@pytest.mark.parametrize(("kind", "key", "word", "meant"), READ)
def test_transformers_reads_the_same(kind: str, key: str, word: str, meant: str) -> None:
    torch = pytest.importorskip("torch", reason="`pip install -e '.[oracle]'` brings it")
    pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings it")
    from tiny import class_of, parsed, quiet

    values = listed(kind, key, word)
    with quiet(), torch.device("meta"):
        state = class_of(values)._from_config(parsed(values)).state_dict()
    report = hfcount.verify_tensors(values, {name: (tuple(one.shape), str(one.dtype)) for name, one in state.items()})
    assert {"HF201", "HF202", "HF301"}.isdisjoint(one.code for one in report.findings)


# A type and changes to its config: lists that are empty, or that name no layer of the kind that is looked for.
EMPTY: list[tuple[str, Json]] = [
    ("zamba", {"layers_block_type": ["mamba"] * 8}),
    ("zamba2", {"layers_block_type": ["mamba"] * 7}),
    ("lfm2", {"full_attn_idxs": [], "layer_types": None}),
]


@pytest.mark.parametrize(("kind", "changes"), EMPTY)
def test_a_list_that_is_empty_is_not_absent(kind: str, changes: Json) -> None:
    values: Json = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    names = " ".join(row.name for row in hfcount.blueprint(values).rows())
    assert "self_attn.q_proj" in names
    without = " ".join(row.name for row in hfcount.blueprint(values | changes).rows())
    assert "self_attn.q_proj" not in without
