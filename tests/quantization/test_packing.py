"""Leaves of packed modules: their tensors, splits by lists and layers, stacks of experts, and what it amounts to."""

from typing import Any

import pytest

from hfcount.blueprints.build import blueprint
from hfcount.mapper.quantization_config import announcements
from hfcount.quantization.packing.amounts import amount
from hfcount.quantization.packing.expected import expected
from hfcount.quantization.packing.mlx import forms
from hfcount.quantization.packing.split import regroup, split
from hfcount.quantization.packing.stacks import apart, together
from hfcount.quantization.schemes import read
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "vocab_size": 320,
    "torch_dtype": "bfloat16",
}
MIXTRAL = LLAMA | {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}
GPT_OSS = LLAMA | {"model_type": "gpt_oss", "num_local_experts": 8, "num_experts_per_tok": 2, "head_dim": 16}
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}


def leaf(name: str, shape: tuple[int, ...], *numbers: Indices, component: Any = "mlp", linear: bool = True) -> Leaf:
    given = iter(numbers)
    segments = [next(given) if one == "#" else one for one in name.split(".")]
    count = 1
    for some in numbers:
        count *= some.count
    return Leaf(tuple(segments), shape, "parameter", component, count, count, linear=linear)


def stored(
    config: dict[str, Any], settings: dict[str, Any]
) -> dict[str, tuple[tuple[int, ...], tuple[str, ...] | None]]:
    scheme = read(announcements({"quantization_config": settings})[0], "bfloat16")
    leaves = expected([one for one in blueprint(config).leaves if one.presence == "required"], scheme).tensors
    return {one.name: (one.shape, one.dtypes) for one in leaves}


def test_a_packed_module_is_several_leaves_and_a_listed_layer_stays_dense() -> None:
    found = stored(LLAMA, FP8 | {"modules_to_not_convert": ["lm_head", "model.layers.2.mlp.up_proj"]})
    assert {name: shape for name, (shape, _) in found.items() if "up_proj" in name or "head" in name} == {
        "model.layers.{0-1,3}.mlp.up_proj.weight": (160, 64),
        "model.layers.{0-1,3}.mlp.up_proj.weight_scale_inv": (2, 1),
        "model.layers.2.mlp.up_proj.weight": (160, 64),
        "lm_head.weight": (320, 64),
    }
    assert found["model.layers.{0-1,3}.mlp.up_proj.weight"][1] == ("F8_E4M3",)
    assert found["model.layers.2.mlp.up_proj.weight"][1] is None


def test_experts_are_packed_one_by_one() -> None:
    found = stored(MIXTRAL, FP8)
    assert found["model.layers.{0-3}.block_sparse_moe.experts.{0-7}.w1.weight_scale_inv"][0] == (2, 1)
    assert "model.layers.{0-3}.block_sparse_moe.gate.weight_scale_inv" not in found


def test_a_stack_of_experts_is_taken_apart_for_most_packers() -> None:
    settings = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}
    found = stored(GPT_OSS, settings)
    names = {"gate_proj": (160, 32), "up_proj": (160, 32), "down_proj": (64, 80)}
    for name, shape in names.items():
        assert found[f"model.layers.{{0-3}}.mlp.experts.{{0-7}}.{name}.weight"] == (shape, ("U8",))
    assert found["model.layers.{0-3}.mlp.experts.{0-7}.up_proj.bias"] == ((160,), None)


def test_a_stack_of_experts_as_blocks() -> None:
    found = stored(GPT_OSS, {"quant_method": "mxfp4"})
    assert found["model.layers.{0-3}.mlp.experts.gate_up_proj_blocks"] == ((8, 320, 2, 16), ("U8",))
    assert found["model.layers.{0-3}.mlp.experts.down_proj_scales"] == ((8, 64, 5), ("U8",))
    assert found["model.layers.{0-3}.self_attn.q_proj.weight"] == ((64, 64), None)


def test_experts_as_one_stack_of_mlx() -> None:
    own = leaf("model.layers.#.mlp.experts.#.up_proj.weight", (32, 64), Indices.below(4), Indices.below(8))
    (stack,) = together([own])
    assert (stack.name, stack.shape, stack.count) == (
        "model.layers.{0-3}.mlp.switch_mlp.up_proj.weight",
        (8, 32, 64),
        4,
    )
    assert apart([own]) == [own]


def test_a_bias_that_the_architecture_lacks_may_be_stored_by_gptq() -> None:
    found = stored(LLAMA, {"quant_method": "gptq", "bits": 4, "group_size": 32})
    assert found["model.layers.{0-3}.mlp.down_proj.bias"] == ((64,), ("F16", "BF16"))


def test_a_billion_layers_cost_no_more_than_one() -> None:
    layers = Indices.below(1_000_000_000)
    found = split(
        ("model", "layers", layers, "mlp"), lambda name: name == "model.layers.7.mlp", lambda _: (7, 2_000_000_000)
    )
    assert [(str(segments[2]), packed) for segments, packed in found] == [("0-999999999 but 7", False), ("7", True)]


def test_a_split_by_layer_and_expert() -> None:
    answers = {"l.0.e.1": "a", "l.1.e.1": "a", "l.2.e.0": "b"}
    found = split(
        ("l", Indices.below(3), "e", Indices.below(2)), lambda name: answers.get(name, ""), lambda _: range(100)
    )
    assert sorted((answer, ".".join(map(str, segments))) for segments, answer in found) == [
        ("", "l.0-1.e.0"),
        ("", "l.2.e.1"),
        ("a", "l.0-1.e.1"),
        ("b", "l.2.e.0"),
    ]


def test_answers_for_every_name_become_sets_of_numbers() -> None:
    found = regroup([Indices.below(3), Indices.below(2)], ["", "a", "", "a", "b", ""])
    assert [([str(some) for some in places], answer) for places, answer in found] == [
        (["0-1", "0"], ""),
        (["0-1", "1"], "a"),
        (["2", "0"], "b"),
        (["2", "1"], ""),
    ]


@pytest.mark.parametrize(
    ("settings", "dtypes", "window"),
    [
        # 4 layers of 2·64·64 + 2·32·64 + 3·160·64 packed; 2·320·64 of tables and (2·4 + 1)·64 of norms dense.
        (FP8, {"F8_E4M3": 172_032, "BF16": 41_536, "F32": 4 * (4 + 6)}, 0),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, {"I8": 172_032, "BF16": 41_536, "F32": 2304}, 0),
        ({"bits": 4, "group_size": 32}, {"BF16": 576 + 2 * 212_992 // 32, "U32": 212_992 // 8}, 0),
    ],
)
def test_what_it_amounts_to(settings: dict[str, Any], dtypes: dict[str, int], window: int) -> None:
    scheme = read(announcements({"quantization_config": settings})[0], "bfloat16")
    found = expected([one for one in blueprint(LLAMA).leaves if one.presence == "required"], scheme)
    whole = amount([one for one in found.tensors if one.presence == "required"], "BF16")
    assert {name: whole.dtypes[name] for name in dtypes} == dtypes
    assert whole.window == window


def test_convolutions_of_mlx_have_their_channels_last() -> None:
    convolution = leaf("visual.patch_embed.proj.weight", (64, 3, 2, 16, 16), component="vision", linear=False)
    assert [one.shape for one in forms([convolution], (), ())] == [(64, 2, 16, 16, 3)]
