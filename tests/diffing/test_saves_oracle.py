"""What transformers really writes of checkpoints that it loads: each name, shape and dtype is the one that saves says.

Types in turn; each has another edit: tensors that its class lacks, another dtype, a tied head, names without a prefix,
a tensor less.
"""

import json
import re
import shutil
import struct
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import cycle, islice, product, zip_longest
from pathlib import Path
from random import Random

import pytest
from paths import ARCHITECTURES
from tables import over

import hfcount

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)

from tiny import RECORDED, Checkpoint, class_of, quiet  # noqa: E402 - needs torch
from tiny import saved as saved_as  # noqa: E402 - needs torch

Written = dict[str, tuple[str, tuple[int, ...]]]

_MOST = 48
_SMALL = 600_000  # elements, so that none has to be cut
_LAYER = re.compile(r"((?:\w+\.)*(?:layers|h|layer|blocks))\.(\d+)\.(.*)")
_EMBEDDING = re.compile(r"(embed_tokens|wte|word_embeddings|embed_in|shared|tok_embeddings)\.weight$")


def _first(one: Checkpoint) -> dict[str, "torch.Tensor"]:
    return next(iter(one.shards.values()))


def more(one: Checkpoint, rng: Random) -> None:
    """Prediction layers, a tower and a buffer that the class does not have, and a layer beyond its count."""
    tensors, extra = one.tensors, torch.zeros(4, 4, dtype=torch.bfloat16)
    _first(one).update({f"mtp.layers.{n}.proj.weight": extra.clone() for n in range(2)})
    _first(one)["further_tower.blocks.0.proj.weight"] = extra
    numbered = [match for name in tensors if (match := _LAYER.fullmatch(name))]
    if numbered:
        base = numbered[0][1]
        last = max(int(match[2]) for match in numbered if match[1] == base)
        _first(one)[f"{base}.0.self_attn.rotary_emb.inv_freq"] = torch.ones(4)
        for match in numbered:
            if match[1] == base and int(match[2]) == last:
                _first(one)[f"{base}.{last + 1}.{match[3]}"] = tensors[match[0]].clone()


def narrower(one: Checkpoint, rng: Random) -> None:
    """Stored in float32, with a config that says bfloat16, or says nothing."""
    for shard in one.shards.values():
        shard.update({name: tensor.float() for name, tensor in shard.items() if tensor.is_floating_point()})
    one.config.pop("dtype")
    if rng.random() < 0.5:
        one.config["torch_dtype"] = "bfloat16"


def headed(one: Checkpoint, rng: Random) -> None:
    """A copy of the embedding as a head, or a head of its own."""
    tensors = one.tensors
    table = next((name for name in tensors if _EMBEDDING.search(name)), None)
    if table and "lm_head.weight" not in tensors:
        head = tensors[table].clone()
        head.view(-1)[0] += rng.choice([0, 1])
        _first(one)["lm_head.weight"] = head


def bare(one: Checkpoint, rng: Random) -> None:
    """Names without the prefix of the base model."""
    prefix = class_of(one.config).base_model_prefix + "."
    for shard in one.shards.values():
        for name in [name for name in shard if name.startswith(prefix)]:
            shard[name.removeprefix(prefix)] = shard.pop(name)


def less(one: Checkpoint, rng: Random) -> None:
    """A tensor that is not stored."""
    gone = rng.choice([name for name, tensor in one.tensors.items() if tensor.is_floating_point()])
    for shard in one.shards.values():
        shard.pop(gone, None)


EDITS: tuple[Callable[[Checkpoint, Random], None], ...] = (more, narrower, headed, bare, less)


def _types() -> Iterator[tuple[str, str]]:
    """Types that are small as recorded, spread over all, each with the next edit."""
    known = [path.stem for path in sorted(ARCHITECTURES.glob("*.json")) if path.stem in RECORDED and _is_small(path)]
    chosen = known[:: len(known) // _MOST][:_MOST]
    yield from ((kind, edit.__name__) for kind, edit in zip(chosen, islice(cycle(EDITS), _MOST), strict=False))


def _is_small(path: Path) -> bool:
    return 0 < (json.loads(path.read_text()).get("total") or 0) < _SMALL


def written(folder: Path) -> Written:
    found: Written = {}
    for path in folder.glob("*.safetensors"):
        raw = path.read_bytes()
        (size,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8 : 8 + size])
        found |= {name: (one["dtype"], tuple(one["shape"])) for name, one in header.items() if name != "__metadata__"}
    return found


def unfolded(pattern: str) -> Iterator[str]:
    """The names of a folded name."""
    parts = re.split(r"\{([\d,-]+)\}", pattern)
    ranges = [[number for run in text.split(",") for number in _run(run)] for text in parts[1::2]]
    for numbers in product(*ranges):
        yield "".join(f"{text}{number}" for text, number in zip_longest(parts[::2], numbers, fillvalue=""))


def _run(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


@over(("kind", "edit"), list(_types()), [f"{kind} {edit}" for kind, edit in _types()])
def test_what_is_written_is_what_saves_says(kind: str, edit: str, tmp_path: Path) -> None:
    rng = Random(f"{kind} {edit}")
    folder, after = tmp_path / kind / "before", tmp_path / kind / "after"
    folder.mkdir(parents=True)
    checkpoint = saved_as(deepcopy(RECORDED[kind]), 0, rng.choice([1, 3]), "bfloat16")
    next(one for one in EDITS if one.__name__ == edit)(checkpoint, rng)
    checkpoint.reindex()
    for name, content in checkpoint.contents().items():
        (folder / name).write_bytes(content)

    said = hfcount.saves(folder)
    assert said.refuses is None
    assert said.error is None
    if said.loses is None:
        assert said.unknown
        assert any(why in said.unknown for why in ("model_type", "is not known here", "a name in memory")), said.unknown
        return
    with quiet():
        class_of(checkpoint.config).from_pretrained(folder).save_pretrained(after)
    expected = {name: (row.written_dtype, row.shape) for row in said.written.rows for name in unfolded(row.name)}
    assert written(after) == expected
    assert said.loses == bool({name for row in said.lost.rows for name in unfolded(row.name)})
    shutil.rmtree(tmp_path / kind)
