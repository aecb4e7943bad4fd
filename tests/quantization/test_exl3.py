"""EXL3 and SpQR, whose settings leave sizes open or give them for every module, and names that EXL3 makes itself."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from packed import Json, Tensors, write

import hfcount

CONFIG: Json = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 256,
    "intermediate_size": 640,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 320,
    "dtype": "float16",
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
    "quantization_config": {"quant_method": "exl3", "version": "1.6.5", "bits": 4.2, "head_bits": 6},
}
SHAPES = {"self_attn.q_proj": (256, 256), "self_attn.k_proj": (128, 256), "self_attn.v_proj": (128, 256)}
SHAPES |= {"self_attn.o_proj": (256, 256), "mlp.gate_proj": (640, 256), "mlp.up_proj": (640, 256)}
SHAPES |= {"mlp.down_proj": (256, 640)}


def trellis(module: str, outputs: int, inputs: int, bits: float) -> Tensors:
    """What the converter stores of a matrix, whose sizes it pads to multiples of 128."""
    return {
        f"{module}.trellis": ([inputs // 16, outputs // 16, int(16 * bits)], "I16"),
        f"{module}.suh": ([inputs], "F16"),
        f"{module}.svh": ([outputs], "F16"),
        f"{module}.mcg": ([], "I32"),
    }


def stored() -> Tensors:
    """Four bits, five for values of the first layer and six for the head, whose 320 rows are padded to 384."""
    found: Tensors = {"model.embed_tokens.weight": ([320, 256], "F16"), "model.norm.weight": ([256], "F16")}
    found |= trellis("lm_head", 384, 256, 6)
    for layer in range(2):
        start = f"model.layers.{layer}"
        for norm in ("input_layernorm", "post_attention_layernorm"):
            found[f"{start}.{norm}.weight"] = [256], "F16"
        for module, (outputs, inputs) in SHAPES.items():
            bits = 5 if layer == 0 and "v_proj" in module else 4
            found |= trellis(f"{start}.{module}", outputs, inputs, bits)
    return found


def verify(folder: Path, tensors: Tensors, depth: Any = "auto") -> hfcount.Report:
    return hfcount.verify(write(folder / "one", {"config": CONFIG, "beside": {}}, tensors), depth=depth)


@pytest.mark.parametrize(("depth", "verdict"), [("headers", "verified"), ("index", "unverified")])
def test_every_matrix_has_bits_of_its_own(tmp_path: Path, depth: Any, verdict: str) -> None:
    # An average does not tell the bytes, so that an index alone proves nothing.
    report = verify(tmp_path, stored(), depth)
    assert (report.verdict, [one.code for one in report.findings if one.severity == "error"]) == (verdict, [])


@pytest.mark.parametrize(
    ("name", "changed", "code"),
    [
        ("model.layers.1.mlp.up_proj.suh", None, "HF503"),
        ("model.layers.1.mlp.up_proj.trellis", ([16, 40, 65], "I16"), "HF301"),
        ("model.layers.1.mlp.up_proj.trellis", ([16, 39, 64], "I16"), "HF301"),
        ("model.layers.1.mlp.up_proj.trellis", ([16, 40, 64], "F16"), "HF303"),
        ("model.layers.0.input_layernorm.weight", None, "HF201"),
    ],
)
def test_what_no_converter_writes_is_found(tmp_path: Path, name: str, changed: Any, code: str) -> None:
    tensors = stored()
    tensors.pop(name)
    tensors |= {name: changed} if changed else {}
    report = verify(tmp_path, tensors)
    assert (report.verdict, [one.code for one in report.findings if one.severity == "error"]) == ("mismatch", [code])


def test_names_of_its_own_are_not_verified(tmp_path: Path) -> None:
    tensors = {name.replace("mlp.up_proj", "mlp.up_proj.slice.0"): what for name, what in stored().items()}
    report = verify(tmp_path, tensors)
    assert report.verdict == "unverified"
    assert "exl3, whose tools have names of their own" in report.findings[0].message


@pytest.mark.parametrize(
    ("lost", "changed", "codes"),
    [("", {}, []), ("col_vals", {}, ["HF503"]), ("col_vals", {"col_vals": ([5], "I32")}, ["HF301"])],
)
def test_spqr_has_the_sizes_that_its_settings_say(
    tmp_path: Path, lost: str, changed: Tensors, codes: list[str]
) -> None:
    shapes: Json = {}
    tensors = {name: what for name, what in stored().items() if name.endswith("weight")}
    tensors["lm_head.weight"] = [320, 256], "F16"
    for place, (layer, (module, (outputs, inputs))) in enumerate(product(range(2), SHAPES.items())):
        start = f"model.layers.{layer}.{module}"
        sizes = {"dense_weights": outputs * inputs // 16, "row_offsets": outputs + 1, "col_vals": 100 + place}
        for name, size in {**sizes, "in_perm": inputs if place % 2 else 0}.items():
            shapes[f"{start}.{name}.shape"] = size
            if size:
                tensors[f"{start}.{name}"] = [size], "I64" if name == "dense_weights" else "I32"
    spoilt = "model.layers.1.mlp.up_proj."
    tensors.pop(spoilt + lost, None)
    tensors |= {spoilt + name: what for name, what in changed.items()}
    case = {"config": {**CONFIG, "quantization_config": {"quant_method": "spqr", "shapes": shapes}}, "beside": {}}
    report = hfcount.verify(write(tmp_path / "one", case, tensors))
    found = [one.code for one in report.findings if one.severity == "error"]
    assert (report.verdict, found) == ("mismatch" if codes else "verified", codes)
