"""Forms of which `hfcount fix` repairs nothing: each is named, with what to do in place of that."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from defects import raw

from hfcount.errors import HfcountError
from hfcount.repair.plan import planned

QUERY = "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q"
PEFT_LORA = {f"{QUERY}.lora_A.weight": ("F32", (4, 8)), f"{QUERY}.lora_B.weight": ("F32", (8, 4))}
KOHYA = {"lora_unet_mid_block_x.lora_down.weight": ("F32", (4, 8)), "lora_unet_mid_block_x.alpha": ("F32", ())}
SETTINGS = json.dumps({"peft_type": "LORA", "r": 4, "target_modules": ["q_proj"]}).encode()

FORMS: dict[str, tuple[Mapping[str, bytes], str]] = {
    "a LoRA by diffusers": (
        {"pytorch_lora_weights.safetensors": raw(PEFT_LORA)},
        r"a LoRA of a diffusion model \(pytorch_lora_weights\.safetensors\).*`hfcount \S+/m --base PIPELINE`",
    ),
    "a LoRA by kohya's scripts": ({"style.safetensors": raw(KOHYA)}, r"a LoRA of a diffusion model \(style"),
    "several LoRAs": (
        {"a.safetensors": raw(KOHYA), "b.safetensors": raw(KOHYA)},
        r"2 LoRAs of diffusion models.*`hfcount \S+/m/a\.safetensors --base PIPELINE`",
    ),
    "a LoRA beside another file": (
        {"a.safetensors": raw(KOHYA), "b.safetensors": raw({"emb_params": ("F32", (1, 8))})},
        r"a LoRA of a diffusion model \(a.*`hfcount \S+/m/a\.safetensors --base PIPELINE`",
    ),
    "a LoRA in a folder below": (
        {"x/pytorch_lora_weights.safetensors": raw(PEFT_LORA)},
        r"`hfcount \S+/m/x/pytorch_lora_weights\.safetensors` verifies",
    ),
    "a pickled LoRA": ({"pytorch_lora_weights.bin": b"x"}, "a pickled LoRA of a diffusion model"),
    "a LoRA that is cut": ({"pytorch_lora_weights.safetensors": raw(PEFT_LORA)[:40]}, "cut|header|bytes"),
    "a textual inversion": ({"learned_embeds.safetensors": raw({"<cat>": ("F32", (8,))})}, "a textual inversion"),
    "a textual inversion of two encoders": (
        {"x.safetensors": raw({"clip_g": ("F32", (1, 8)), "clip_l": ("F32", (1, 8))})},
        "a textual inversion",
    ),
    "a pickled textual inversion": ({"learned_embeds.bin": b"x"}, "a textual inversion"),
    "a model in one file": (
        {"x.safetensors": raw({"model.diffusion_model.input_blocks.0.0.weight": ("F32", (4, 4, 3, 3))})},
        "a checkpoint of Stable Diffusion in one file",
    ),
    "an adapter in a folder below": (
        {"a/adapter_config.json": SETTINGS},
        r"1 adapter in folders below \(a\).*`hfcount fix \S+/m/a`",
    ),
    "adapters in folders below": (
        {f"{name}/adapter_config.json": SETTINGS for name in "abcde"},
        r"5 adapters in folders below \(a, b, c and 2 more\)",
    ),
    "GGUF": ({"x.gguf": b"GGUF"}, r"GGUF \(x\.gguf\).*`hfcount \S+/m` verifies it"),
    "GGUF beside a config": ({"x.gguf": b"GGUF", "config.json": b'{"model_type": "llama"}'}, r"GGUF \(x\.gguf\)"),
    "a pipeline": ({"model_index.json": b"{}"}, r"several models: name the folder of one of them, in \S+/m\."),
    "weights of safetensors": ({"x.safetensors": raw({"a": ("F32", (1,))})}, r"copy the config\.json"),
    "pickled weights": ({"pytorch_model-00001-of-00002.bin": b"x"}, r"copy the config\.json"),
}


@pytest.mark.parametrize(("files", "says"), FORMS.values(), ids=FORMS)
def test_a_form_that_is_not_repaired_is_named(tmp_path: Path, files: Mapping[str, bytes], says: str) -> None:
    for name, content in files.items():
        (tmp_path / "m" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "m" / name).write_bytes(content)
    with pytest.raises(HfcountError, match=says):
        planned(tmp_path / "m")
