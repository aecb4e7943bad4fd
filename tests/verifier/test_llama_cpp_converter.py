"""What llama.cpp's converter makes of folders, as its source has it."""

from collections.abc import Mapping
from typing import Any

import pytest

from hfcount.verifier.loaders import recorded
from hfcount.verifier.loaders.catalogue import loader
from hfcount.verifier.loaders.llama_cpp.converter.files import Folder
from hfcount.verifier.loaders.llama_cpp.converter.folder import Converted, converted, read
from hfcount.verifier.loaders.llama_cpp.converter.shallow import shallow
from hfcount.verifier.loaders.llama_cpp.converter.tensors import TORCH, Tensor
from hfcount.verifier.loaders.llama_cpp.gguf import loading
from hfcount.verifier.loaders.loader import Checkpoint

VERSION = recorded.versions("llama.cpp")[-1]

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-6,
    "vocab_size": 128,
    "tie_word_embeddings": False,
}
OF_LAYER = {
    "input_layernorm.weight": (64,),
    "post_attention_layernorm.weight": (64,),
    "mlp.gate_proj.weight": (96, 64),
    "mlp.up_proj.weight": (96, 64),
    "mlp.down_proj.weight": (64, 96),
    "self_attn.q_proj.weight": (64, 64),
    "self_attn.k_proj.weight": (32, 64),
    "self_attn.v_proj.weight": (32, 64),
    "self_attn.o_proj.weight": (64, 64),
}
OUTER = {"model.embed_tokens.weight": (128, 64), "model.norm.weight": (64,), "lm_head.weight": (128, 64)}
Shapes = dict[str, tuple[int, ...]]


def shapes(layers: int = 2) -> Shapes:
    return OUTER | {f"model.layers.{at}.{name}": size for at in range(layers) for name, size in OF_LAYER.items()}


def convert(values: Mapping[str, Any], stored: Shapes, no_mtp: bool = False, dtype: str = "BF16") -> Converted:
    tensors = {name: (shape, dtype) for name, shape in stored.items()}
    return converted(VERSION, values, tensors, Folder((), {"config.json": dict(values)}), no_mtp)


def quantised(method: str, **settings: Any) -> dict[str, Any]:
    return {**LLAMA, "quantization_config": {"quant_method": method, **settings}}


def test_a_sound_model_is_converted_to_a_file_that_loads() -> None:
    result = convert(LLAMA, shapes())
    assert (result.outcome, result.says) == ("converts", "")
    assert result.model is not None
    tensors = result.model.writer.tensors
    assert tensors["blk.1.attn_k.weight"].shape == (32, 64)
    assert len(tensors) == len(shapes())
    assert loading(VERSION, result.model.writer.header(128)).loads


GPTQ = {
    f"model.layers.0.self_attn.q_proj.{name}": size for name, size in {"qweight": (8, 64), "qzeros": (1, 8)}.items()
}

REFUSED: dict[str, tuple[dict[str, Any], Mapping[str, Any], str, str]] = {
    "an unknown class": ({**LLAMA, "architectures": ["NoSuchModel"]}, {}, "has no class NoSuchModel", "__init__.py"),
    "no class": ({**LLAMA, "architectures": None}, {}, "Failed to detect model architecture", "base.py"),
    "an unknown name": (LLAMA, {"model.extra.weight": (4,)}, "cannot map 'model.extra.weight'", "base.py:630"),
    "a layer more": (LLAMA, {"model.layers.2.input_layernorm.weight": (64,)}, "cannot map", "base.py:630"),
    "AWQ": (quantised("awq", bits=4), {}, "does not undo 'awq'", "base.py:580"),
    "bitsandbytes": (quantised("bitsandbytes"), {}, "does not undo 'bitsandbytes'", "base.py:580"),
    "GPTQ without order": (quantised("gptq", bits=4), GPTQ, "needs model.layers.0.self_attn.q_proj.g_idx", "base.py"),
    "a scale without weights": (quantised("fp8"), {"x.weight_scale_inv": (1, 1)}, "needs x.weight", "base.py"),
    "two groups": (
        quantised("compressed-tensors", format="pack-quantized", config_groups={"a": {}, "b": {}}),
        {},
        "multiple config groups",
        "base.py",
    ),
    "a key that 5.x does not write": (
        {**LLAMA, "model_type": "cohere2", "architectures": ["Cohere2ForCausalLM"]},
        dict.fromkeys(["lm_head.weight", *(f"model.layers.{at}.post_attention_layernorm.weight" for at in range(2))]),
        "needs rotary_pct",
        "command_r.py",
    ),
    "no layers that predict": (
        {**LLAMA, "model_type": "qwen3_next", "architectures": ["Qwen3NextForCausalLM"]},
        {},
        "asserts self.opt_num_mtp_layers != 0",
        "qwen.py",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_come_through_is_said_with_its_line(name: str) -> None:
    values, more, says, source = REFUSED[name]
    stored = {title: shape for title, shape in {**shapes(), **more}.items() if shape is not None}
    result = convert(values, stored)
    assert result.outcome == "refuses", result.says
    assert says in result.says
    assert source in result.source


@pytest.mark.parametrize(
    "change, says",
    [
        ({"model.layers.1.mlp.up_proj.weight": None}, "needs the tensor blk.1.ffn_up.weight"),
        ({"model.embed_tokens.weight": (130, 64)}, "needs token_embd.weight"),
        ({"model.layers.0.self_attn.k_proj.weight": (64, 64)}, "needs blk.0.attn_k.weight"),
    ],
)
def test_a_file_that_is_written_may_not_load(change: Mapping[str, Any], says: str) -> None:
    stored = {name: shape for name, shape in {**shapes(), **change}.items() if shape is not None}
    result = convert(LLAMA, stored)
    assert result.model is not None
    loaded = loading(VERSION, result.model.writer.header(128))
    assert not loaded.loads
    assert says in loaded.says


def test_layers_that_repeat_others_are_left_out() -> None:
    values = {**LLAMA, "num_hidden_layers": 40, "layer_types": ["full_attention"] * 40}
    every = {name: (shape, "BF16") for name, shape in shapes(40).items()}
    config, kept = shallow(values, every)
    assert (config["num_hidden_layers"], len(config["layer_types"]), len(kept)) == (1, 1, len(shapes(1)))
    del every["model.layers.20.mlp.up_proj.weight"]
    assert shallow(values, every) == (values, every)


@pytest.mark.parametrize(
    "shape, compute, result",
    [
        ((6, 4), lambda tensor: tensor.attribute("reshape")(2, -1, 4), (2, 3, 4)),
        ((6, 4), lambda tensor: tensor[..., :3], (6, 3)),
        ((6, 1), lambda tensor: tensor + Tensor((1, 5)), (6, 5)),
        ((6, 4), lambda tensor: TORCH["stack"]([tensor, tensor], dim=1), (6, 2, 4)),
        ((2, 6, 4), lambda tensor: tensor.attribute("permute")(0, 2, 1), (2, 4, 6)),
        ((6, 4), lambda tensor: TORCH["split"](tensor, [2, 4], dim=0)[1], (4, 4)),
    ],
)
def test_shapes_are_those_of_torch(shape: tuple[int, ...], compute: Any, result: tuple[int, ...]) -> None:
    assert compute(Tensor(shape)).shape == result


@pytest.mark.parametrize("values", [{**LLAMA, "num_hidden_layers": 10**12}, {**LLAMA, "num_hidden_layers": "many"}])
def test_a_hostile_config_ends(values: dict[str, Any]) -> None:
    assert convert(values, shapes()).outcome in ("unknown", "refuses", "converts")


def test_without_a_config_nothing_is_known() -> None:
    reading = read(loader("llama.cpp"), Checkpoint(form="model", values={}))
    assert reading.outcome == "unknown"
