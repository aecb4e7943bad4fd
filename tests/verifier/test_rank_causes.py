"""Files that one rank of several has written: which kind of rank it was, and what joins the parts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from build import Json, config
from defects import SINGLE, Checkpoint, Tensors, stored

import hfcount

Shape = tuple[int, ...]

LLAMA = config("llama", vocab_size=64, hidden_size=32, intermediate_size=48, num_attention_heads=8)
MIXTRAL = config("mixtral", vocab_size=64, hidden_size=32, intermediate_size=48, num_attention_heads=8)
QWEN = config("qwen2", vocab_size=64, hidden_size=32, intermediate_size=48, num_attention_heads=8)

COLUMNS = ("o_proj.weight", "down_proj.weight", "w2.weight")
WHOLE = ("norm.weight", "gate.weight")


def _saved(values: Json, edit: Callable[[str, Shape], Shape], folder: Path) -> str:
    """What is said of shapes, where the tensors have other ones."""
    tensors: Tensors = {name: (dtype, edit(name, shape)) for name, (dtype, shape) in stored(values).items()}
    place = Checkpoint(values, {SINGLE: tensors}, weight_map={}).write(folder / "model")
    (finding,) = (one for one in hfcount.verify(str(place)).findings if one.severity == "error")
    assert finding.code == "HF301"
    return finding.message


def _part(ranks: int, *whole: str) -> Callable[[str, Shape], Shape]:
    """A tensor-parallel rank's part; those with one of `whole` in their names are on every rank."""

    def edit(name: str, shape: Shape) -> Shape:
        if name.endswith(WHOLE) or any(part in name for part in whole):
            return shape
        first, *rest = shape
        return (first, rest[0] // ranks) if name.endswith(COLUMNS) else (first // ranks, *rest)

    return edit


@pytest.mark.parametrize("values", [LLAMA, MIXTRAL, QWEN], ids=["llama", "mixtral", "qwen2"])
@pytest.mark.parametrize("whole", [(), ("k_proj", "v_proj")], ids=["all", "keys-and-values-on-every-rank"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_a_tensor_parallel_rank(values: Json, ranks: int, whole: tuple[str, ...], tmp_path: Path) -> None:
    said = _saved(values, _part(ranks, *whole), tmp_path)
    assert f"like the file of one of {ranks} tensor-parallel ranks" in said
    assert said.endswith(f"Merge the files of all {ranks} ranks.")


def test_a_part_that_may_be_pruned_is_given_no_cure(tmp_path: Path) -> None:
    said = _saved(LLAMA, _part(2, "embed_tokens", "lm_head"), tmp_path)
    assert said.endswith("like the file of one of 2 tensor-parallel ranks, unless heads and widths were pruned alike.")


@pytest.mark.parametrize(
    ("part", "ranks"),
    [("mlp", 2), ("self_attn", 2), ("up_proj", 2), ("embed_tokens", 4)],
)
def test_a_part_of_the_model_is_no_rank(part: str, ranks: int, tmp_path: Path) -> None:
    edit = _part(ranks)
    assert "rank" not in _saved(LLAMA, lambda name, shape: edit(name, shape) if part in name else shape, tmp_path)


def test_two_fractions_are_no_rank(tmp_path: Path) -> None:
    half, quarter = _part(2), _part(4)
    said = _saved(LLAMA, lambda name, shape: (half if "mlp" in name else quarter)(name, shape), tmp_path)
    assert "rank" not in said


@pytest.mark.parametrize("norms", [False, True], ids=["matrices", "all"])
def test_zero_3_leaves_what_is_elsewhere_empty(norms: bool, tmp_path: Path) -> None:
    said = _saved(LLAMA, lambda name, shape: (0,) if norms or len(shape) > 1 else shape, tmp_path)
    assert "weights that DeepSpeed ZeRO-3 has partitioned" in said
    assert "zero_to_fp32.py" in said
    assert "stage3_gather_16bit_weights_on_model_save" in said


def test_a_rank_of_fsdp_has_flat_slices(tmp_path: Path) -> None:
    slices = {"model.embed_tokens.weight": (1_000,), "model.norm.weight": (0,), "lm_head.weight": (0,)}
    said = _saved(LLAMA, lambda name, shape: slices.get(name, shape), tmp_path)
    assert "1,000 of the 2,048 elements of model.embed_tokens.weight" in said
    assert "FSDP" in said
    assert "ZeRO" not in said
    assert "FULL_STATE_DICT" in said


def test_flattened_tensors_are_whole(tmp_path: Path) -> None:
    said = _saved(LLAMA, lambda name, shape: (shape[0] * shape[1],) if len(shape) > 1 else shape, tmp_path)
    assert "rank" not in said


def _in_layer(number: int, edit: Callable[[str, Shape], Shape]) -> Callable[[str, Shape], Shape]:
    return lambda name, shape: edit(name, shape) if f"layers.{number}." in name else shape


def _only(part: str, new: Callable[[Shape], Shape]) -> Callable[[str, Shape], Shape]:
    return lambda name, shape: new(shape) if part in name else shape


NO_RANK = {
    "shorter norms": _only("layernorm", lambda shape: (shape[0] // 2,)),
    "one shorter norm": _only("layers.0.input_layernorm", lambda shape: (5,)),
    "an empty norm": _only("model.norm", lambda shape: (0,)),
    "empty norms": _only("norm", lambda shape: (0,)),
    "an empty embedding": _only("embed_tokens", lambda shape: (0,)),
    "an empty matrix": _only("layers.1.self_attn.q_proj", lambda shape: (0,)),
    "an empty matrix in each layer": _only("q_proj", lambda shape: (0,)),
    "an empty feed-forward part": _only(".mlp.", lambda shape: (0,)),
    "one layer of empty matrices": _in_layer(0, lambda name, shape: (0,)),
    "a flat half of a matrix": _only("layers.0.self_attn.q_proj", lambda shape: (shape[0] * shape[1] // 2,)),
    "a flat half of every projection": lambda name, shape: (shape[0] * shape[1] // 2,) if "_proj" in name else shape,
    "a flat half of the embedding alone": _only("embed_tokens", lambda shape: (shape[0] * shape[1] // 2,)),
    "half of one layer": _in_layer(0, _part(2)),
    "half of what goes up, and all that gates": _part(2, "gate_proj"),
    "half of each of two layers, otherwise": lambda name, shape: _part(2 if ".0." in name else 4)(name, shape),
}


@pytest.mark.parametrize("edit", NO_RANK.values(), ids=list(NO_RANK))
def test_other_losses_are_no_rank(edit: Callable[[str, Shape], Shape], tmp_path: Path) -> None:
    """None of these is what a rank would hold: something of its unit is whole, or layers hold unlike shares."""
    said = _saved(LLAMA, edit, tmp_path)
    assert not {"rank", "FSDP", "ZeRO-3"}.intersection(said.replace("'s", "").split()), said


def test_a_rank_of_fsdp_that_wraps_layers(tmp_path: Path) -> None:
    """Of each layer the first 6,000 elements in the order of its parameters, as one of several ranks holds them."""
    tensors = stored(LLAMA)
    order = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "input_layer", "post_att")
    held: dict[str, Shape] = {}
    for layer in {name.split(".")[2] for name in tensors if ".layers." in name}:
        left = 3_000
        own = [name for name in tensors if f".layers.{layer}." in name]
        for name in sorted(own, key=lambda name: next(n for n, part in enumerate(order) if part in name)):
            size = 1
            for side in tensors[name][1]:
                size *= side
            held[name], left = (min(size, left),), left - min(size, left)
    root = {"model.embed_tokens.weight": (1_000,), "model.norm.weight": (0,), "lm_head.weight": (0,)}
    said = _saved(LLAMA, lambda name, shape: (held | root).get(name, shape), tmp_path)
    assert "One FSDP rank" in said
    held["model.layers.0.self_attn.q_proj.weight"] = (held["model.layers.0.self_attn.q_proj.weight"][0] - 1,)
    assert "FSDP" not in _saved(LLAMA, lambda name, shape: (held | root).get(name, shape), tmp_path / "another")
