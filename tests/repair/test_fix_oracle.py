"""Repaired checkpoints, loaded by transformers: every weight is the one that was saved."""

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from damaged import CONFIG, FP8, INDEX, Spoil, content, each, files, fix, maps, prefixed, says
from loopback import Hub

import hfcount

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)

from judge import Judge, Subject, differences  # noqa: E402 - needs torch, which may not be there
from spoils.edits import EMBEDDING, leaf, rename, replace  # noqa: E402 - needs torch, which may not be there
from tiny import RECORDED, Checkpoint, fitted  # noqa: E402 - needs torch, which may not be there
from tiny import saved as saved_as  # noqa: E402 - needs torch, which may not be there

SIZES = {
    "vocab_size": 320,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
}

CASES: dict[str, tuple[Spoil, str]] = {
    "sizes": (says(vocab_size=300, num_key_value_heads=1), "--only HF301"),
    "sizes that are repaired unasked": (says(vocab_size=300, intermediate_size=96), ""),
    "settings of a quantisation": (says(quantization_config=FP8), ""),
    "a prefix": (prefixed("module._orig_mod."), ""),
    "a prefix that transformers removes": (prefixed("model."), "--only HF209"),
    "no index": (content(INDEX, None), ""),
    "an index of other files": (maps(lambda names: names.update(dict.fromkeys(names, "a-1-of-9.safetensors"))), ""),
    "a prefix, a size and no index": (
        each(prefixed("model.model."), says(vocab_size=300), content(INDEX, None)),
        "",
    ),
    "fewer layers": (says(num_hidden_layers=5, layer_types=["full_attention"] * 5), "--only HF201"),
    "more layers": (says(num_hidden_layers=2, layer_types=["full_attention"] * 2), "--only HF202"),
    "heads": (says(num_attention_heads=8, num_key_value_heads=4), "--only HF301"),
    "a head that is shared": (says(tie_word_embeddings=True), "--only HF213"),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "m"
    torch.manual_seed(0)
    model = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SIZES)).to(torch.bfloat16)
    model.save_pretrained(folder, max_shard_size="200KB")
    return folder


@pytest.mark.parametrize(("spoil", "options"), CASES.values(), ids=CASES)
def test_it_loads_as_it_was(saved: Path, spoil: Spoil, options: str, tmp_path: Path) -> None:
    from shutil import copytree

    folder = copytree(saved, tmp_path / "m")
    spoil(folder)
    spoiled = files(folder)
    if options:
        fix(folder, "--write")
        assert files(folder) == spoiled
    assert fix(folder, "--write", *options.split()) == 0
    assert (folder / CONFIG).read_bytes() == (saved / CONFIG).read_bytes()
    loaded, info = transformers.Qwen3ForCausalLM.from_pretrained(folder, output_loading_info=True, dtype="auto")
    assert not any(info.values())
    wanted = transformers.Qwen3ForCausalLM.from_pretrained(saved, dtype="auto").state_dict()
    assert {name: torch.equal(one, wanted[name]) for name, one in loaded.state_dict().items()} == dict.fromkeys(
        wanted, True
    )


Broken = Callable[[Checkpoint], object]


def _last_layer(c: Checkpoint) -> int:
    """The last layer of each stack is gone."""
    numbers = [int(part) for name in c.tensors for part in name.split(".") if part.isdigit()]
    return rename(c, lambda name: None if f".{max(numbers)}." in name else name)


def _stale(c: Checkpoint) -> None:
    """The last layer is gone, and the index still names and counts it."""
    index = deepcopy(c.index)
    _last_layer(c)
    c.index = index


def _counted(c: Checkpoint) -> None:
    """The last layer is gone from the config, too, and the total counts it."""
    index, last = deepcopy(c.index), max(int(one) for name in c.tensors for one in name.split(".") if one.isdigit())
    _last_layer(c)
    for key, value in c.config.items():
        if key in ("num_hidden_layers", "n_layer") and value == last + 1:
            c.config[key] = last
    if c.index and index:
        c.index["metadata"] = index["metadata"]


def _head(c: Checkpoint) -> int:
    return rename(c, lambda name: None if name.endswith("lm_head.weight") else name)


def _half(*names: str) -> Broken:
    """The first half of the rows, or of the columns of what leads back."""

    def spoil(c: Checkpoint) -> int:
        def edit(name: str, tensor: Any) -> Any:
            dim = int(leaf(name).startswith(("down", "o_proj", "w2")))
            return tensor.narrow(dim, 0, tensor.shape[dim] // 2) if leaf(name).startswith(names) else tensor

        return replace(c, edit)

    return spoil


def _rows(c: Checkpoint) -> int:
    """Two rows of the vocabulary are gone."""
    rows = {tensor.shape[0] for name, tensor in c.tensors.items() if EMBEDDING.search(name)}
    return replace(c, lambda _, one: one[:-2] if one.shape and one.shape[0] in rows else one)


def _config(**factors: float) -> Broken:
    """Values of the config times these."""

    def spoil(c: Checkpoint) -> None:
        for key, factor in factors.items():
            if type(c.config.get(key)) is int:
                c.config[key] = max(1, int(c.config[key] * factor))

    return spoil


def _set(**values: object) -> Broken:
    return lambda c: c.config.update(values)


def _total(add: int) -> Broken:
    return lambda c: c.index and c.index["metadata"].update(total_size=c.index["metadata"]["total_size"] + add)


BROKEN: dict[str, tuple[Broken, bool]] = {
    "the last layer is lost": (_last_layer, False),
    "the last layer is lost, and the index names it": (_stale, False),
    "the last layer is lost, and the total counts it": (_counted, False),
    "the head is lost": (_head, False),
    "the head is lost, and tied": (lambda c: (_head(c), c.config.update(tie_word_embeddings=True)), False),
    "half of the MLP": (_half("gate_proj", "up_proj", "down_proj", "gate_up_proj"), False),
    "half of attention": (_half("q_proj", "k_proj", "v_proj", "o_proj"), False),
    "rows are lost": (_rows, False),
    "twice the heads": (_config(num_attention_heads=2, num_key_value_heads=2, n_head=2), False),
    "half the heads": (_config(num_attention_heads=0.5, num_key_value_heads=0.5), False),
    "a layer more": (_config(num_hidden_layers=1.5, encoder_layers=1.5), False),
    "tied": (_set(tie_word_embeddings=True), False),
    "untied": (_set(tie_word_embeddings=False), False),
    "another dtype": (_set(dtype="float16"), False),
    "a dtype that nobody knows": (_set(dtype="fp16"), True),
    "a smaller vocabulary": (_config(vocab_size=0.9), True),
    "a prefix": (lambda c: rename(c, lambda name: f"module.{name}"), True),
    "the total": (_total(-5), True),
}
"""What was done, and whether it is undone unasked."""


@pytest.mark.parametrize("name", ["llama", "gpt2", "mixtral", "led"])
def test_what_is_green_after_a_repair_unasked_is_the_model_that_was_saved(name: str, hub: Hub, tmp_path: Path) -> None:
    judge = Judge(tmp_path, hub)
    checkpoint = saved_as(fitted(RECORDED[name]), 3, 3)
    subject = Subject(name, checkpoint, judge)
    for kind, (spoil, undone) in BROKEN.items():
        copy = checkpoint.copy()
        spoil(copy)
        with copy.written(tmp_path / "copy") as folder:
            before = files(folder)
            fix(folder, "--write")
            after = files(folder)
            if before != after:
                again = shutil.copytree(folder, tmp_path / "undone")
                fix(again, "--undo")
                assert files(again) == before
                shutil.rmtree(again)
            good = hfcount.verify(str(folder), depth="headers").verdict in ("verified", "explained")
            assert good or not undone, kind
            if good and before != after:
                found = judge.loads(folder, json.loads((folder / CONFIG).read_text()))
                assert not found.broken and differences(found, subject.right) is None, kind
                assert undone, kind
