"""Whether mergekit really merges a pair: it refuses what is said to be refused, and loses what it is said to leave out.

mergekit is in no extra: `pip install mergekit` in an environment that has the extra `test`.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from build import TINY
from test_diff_values import Arrays, saved, weights
from test_mergeable import LLAMA, ROWS

import hfcount

_EXTRA = "mergekit is not installed; `pip install mergekit` brings it"
merge = pytest.importorskip("mergekit.merge", reason=_EXTRA)
config = pytest.importorskip("mergekit.config", reason=_EXTRA)

Json = dict[str, Any]
GROUPED = LLAMA | {"num_key_value_heads": 4}
WIDER = LLAMA | {"hidden_size": 16}
TIED = LLAMA | {"tie_word_embeddings": True}
NORM = "model.norm.weight"


def _without(*names: str) -> Callable[[Arrays], Arrays]:
    return lambda arrays: {name: array for name, array in arrays.items() if name not in names}


def _with(name: str, like: str) -> Callable[[Arrays], Arrays]:
    return lambda arrays: {**arrays, name: arrays[like]}


def _same(arrays: Arrays) -> Arrays:
    return arrays


# Configs of A and B, what becomes of the tensors of B, and the dtype that these are stored in
FURTHER: dict[str, tuple[Json, Json, Callable[[Arrays], Arrays], str]] = {
    "heads of keys and values": (LLAMA, GROUPED, _same, "BF16"),
    "width": (LLAMA, WIDER, _same, "BF16"),
    "a norm is missing": (LLAMA, LLAMA, _without(NORM), "BF16"),
    "a projection is missing": (LLAMA, LLAMA, _without("model.layers.1.mlp.up_proj.weight"), "BF16"),
    "the head is missing": (LLAMA, LLAMA, _without("lm_head.weight"), "BF16"),
    "both tie the head": (TIED, TIED, _same, "BF16"),
    "both tie the head, and B stores it": (TIED, TIED, _with("lm_head.weight", "model.embed_tokens.weight"), "BF16"),
    "a tensor too many": (LLAMA, LLAMA, _with("model.layers.0.extra.weight", NORM), "BF16"),
    "float32": (LLAMA, LLAMA, _same, "F32"),
    "float16": (LLAMA, LLAMA, _same, "F16"),
    "qwen3": (TINY["qwen3"], TINY["qwen3"], _same, "BF16"),
    "an expert is missing": (
        TINY["mixtral"],
        TINY["mixtral"],
        _without("model.layers.1.block_sparse_moe.experts.3.w2.weight"),
        "BF16",
    ),
    "mistral": (TINY["mistral"], TINY["mistral"], _same, "BF16"),
}
PAIRS = {name: (a, b, _same, "BF16") for name, (a, b, *_) in ROWS.items()} | FURTHER
LOST = ("leaves out", "would merge the names that both have")


def _merged(a: Path, b: Path, out: Path) -> str:
    """What mergekit says as it refuses the pair; empty if it merges them."""
    models = [{"model": str(folder), "parameters": {"weight": 0.5}} for folder in (a, b)]
    wanted = {"models": models, "merge_method": "linear", "dtype": "bfloat16"}
    options = merge.MergeOptions(copy_tokenizer=False, write_model_card=False, quiet=True)
    try:
        merge.run_merge(config.MergeConfiguration.model_validate(wanted), str(out), options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PAIRS)
def test_what_mergekit_does_is_what_is_said(name: str, tmp_path: Path) -> None:
    a, b, change, dtype = PAIRS[name]
    first = saved(tmp_path / "a", a, weights(a))
    second = saved(tmp_path / "b", b, change(weights(b, 2)), dtype)
    expectation = hfcount.diff(first, second, expect="mergeable").expectation
    assert expectation is not None
    refusal = _merged(first, second, tmp_path / "out")
    told = expectation.reason
    if expectation.met:
        assert not refusal
        report = hfcount.verify(tmp_path / "out")
        assert report.verdict in ("verified", "explained"), report
    else:
        assert bool(refusal) is not any(words in told for words in LOST), (told, refusal)


@pytest.mark.filterwarnings("ignore")
def test_rows_of_other_words_are_merged_without_a_word(tmp_path: Path) -> None:
    """mergekit does not look at words unless `tokenizer` is set, which is what `mergeable` warns of."""
    folders = [saved(tmp_path / side, LLAMA, weights(LLAMA)) for side in "ab"]
    for folder, words in zip(folders, (["x", "y"], ["y", "x"]), strict=True):
        vocabulary = {word: number for number, word in enumerate(words)}
        (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": [], "model": {"vocab": vocabulary}}))
    found = hfcount.diff(*folders, expect="mergeable").expectation
    assert found is not None and found.met is False
    assert "merges rows by their number" in found.reason
    assert _merged(*folders, tmp_path / "out") == ""


@pytest.mark.filterwarnings("ignore")
def test_weights_of_another_name_are_not_found(tmp_path: Path) -> None:
    a, b = (saved(tmp_path / side, LLAMA, weights(LLAMA)) for side in "ab")
    shutil.move(b / "model.safetensors", b / "consolidated.safetensors")
    assert not hfcount.diff(a, b, expect="mergeable").ok
    assert _merged(a, b, tmp_path / "out")
