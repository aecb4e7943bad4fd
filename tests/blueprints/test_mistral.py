"""Mistral's own layout: its names and shapes, and what its params.json may not say."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from defects import PARAMS, Tensors, raw
from loopback import Hub

import hfcount
from hfcount.blueprints.libraries import mistral
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.serving.cost import cost

WHERE = "params.json"
VISION: dict[str, Any] = {
    "hidden_size": 8,
    "num_channels": 3,
    "image_size": 16,
    "patch_size": 4,
    "intermediate_size": 10,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
MERGED = {"mm_projector_id": "patch_merge", "add_pre_mm_projector_layer_norm": True, "adapter_bias": False}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2}
LATENT = {"q_lora_rank": 7, "kv_lora_rank": 5, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 3}
SHARED = EXPERTS | {"num_shared_experts": 2, "expert_hidden_dim": 8, "first_k_dense_replace": 1, "route_every_n": 1}
SPEECH = "mm_whisper_embeddings.whisper_encoder.transformer"
ATTENTION = {"wq": (24, 12), "wk": (12, 12), "wv": (12, 12), "wo": (12, 24)}


def heard(**changes: Any) -> dict[str, Any]:
    """What params.json says of an encoder of speech."""
    encoder = {"dim": 8, "n_layers": 2, "hidden_dim": 16, "n_heads": 2, "audio_encoding_args": {"num_mel_bins": 5}}
    return {"whisper_model_args": {"encoder_args": encoder | changes, "downsample_args": {"downsample_factor": 2}}}


def _shapes(params: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    rows = mistral.blueprint(params, WHERE).rows()
    return {re.sub(r"\{[^}]*\}", "N", row.name): row.shape for row in rows}


def test_a_text_model() -> None:
    around = {"tok_embeddings": (50, 12), "norm": (12,), "output": (50, 12)}
    norms = {"layers.N.attention_norm": (12,), "layers.N.ffn_norm": (12,)}
    attention = {f"layers.N.attention.{name}": shape for name, shape in ATTENTION.items()}
    feed_forward = {f"layers.N.feed_forward.{name}": (20, 12) for name in ("w1", "w3")}
    expected = around | norms | attention | feed_forward | {"layers.N.feed_forward.w2": (12, 20)}
    assert _shapes(PARAMS) == {f"{name}.weight": shape for name, shape in expected.items()}


@pytest.mark.parametrize(
    ("window", "kept"), [(None, [(3, None)]), (8, [(3, 8)]), ([None, 8, 8], [(2, 8), (1, None)]), ([None], [(3, None)])]
)
@pytest.mark.parametrize("around", [{}, {"multimodal": heard()}], ids=["text", "speech"])
def test_windows_are_those_of_all_layers_or_of_each_in_a_period(
    window: object, kept: list[tuple[int, int | None]], around: dict[str, Any]
) -> None:
    found = cost(mistral.blueprint({**PARAMS, **around, "sliding_window": window}, WHERE)).kept
    assert [(part.layers, part.window) for part in found] == kept
    assert _shapes({**PARAMS, "sliding_window": window}) == _shapes(PARAMS)


@pytest.mark.parametrize(
    ("changes", "there", "shape"),
    [
        ({"moe": EXPERTS}, "layers.N.feed_forward.gate.weight", (4, 12)),
        ({"moe": EXPERTS}, "layers.N.feed_forward.experts.N.w2.weight", (12, 20)),
        ({"vision_encoder": VISION}, "vision_encoder.transformer.layers.N.attention.wq.weight", (8, 8)),
        ({"vision_encoder": VISION}, "vision_language_adapter.w_in.bias", (12,)),
        ({"vision_encoder": VISION | MERGED}, "patch_merger.merging_layer.weight", (8, 32)),
        ({"vision_encoder": VISION | MERGED}, "pre_mm_projector_norm.weight", (8,)),
        ({"multimodal": heard()}, "mm_whisper_embeddings.tok_embeddings.weight", (50, 12)),
        ({"multimodal": heard()}, "mm_whisper_embeddings.whisper_encoder.conv_layers.0.weight", (8, 5, 3)),
        ({"multimodal": heard()}, f"{SPEECH}.layers.N.attention.wo.bias", (8,)),
        ({"multimodal": heard()}, f"{SPEECH}.layers.N.feed_forward.w1.weight", (16, 8)),
        ({"multimodal": heard()}, f"{SPEECH}.layers.N.ffn_norm.bias", (8,)),
        ({"multimodal": heard()}, "mm_whisper_embeddings.audio_language_projection.0.weight", (12, 16)),
        (LATENT, "layers.N.attention.wkv_a_with_mqa.weight", (7, 12)),
        (LATENT | {"q_lora_rank": None}, "layers.N.attention.wq.weight", (24, 12)),
        (LATENT | {"moe": SHARED}, "layers.N.attention.wq_a.weight", (7, 12)),
        (LATENT | {"moe": SHARED}, "layers.N.attention.wq_b.weight", (24, 7)),
        (LATENT | {"moe": SHARED}, "layers.N.attention.wkv_b.weight", (28, 5)),
        (LATENT | {"moe": SHARED}, "layers.0.feed_forward.w1.weight", (20, 12)),
        (LATENT | {"moe": SHARED}, "layers.N.gate.weight", (4, 12)),
        (LATENT | {"moe": SHARED}, "layers.N.experts.N.w2.weight", (12, 8)),
        (LATENT | {"moe": SHARED}, "layers.N.shared_experts.w1.weight", (16, 12)),
        (LATENT | {"moe": SHARED, "vision_encoder": VISION | MERGED}, "patch_merger.merging_layer.weight", (8, 32)),
    ],
)
def test_parts(changes: dict[str, Any], there: str, shape: tuple[int, ...]) -> None:
    assert _shapes(PARAMS | changes)[there] == shape


def packed(params: dict[str, Any], *without: str, draft: bool = False) -> Tensors:
    """The tensors of a model whose layers are in FP8, with their scales; a draft has neither embedding nor head."""
    shapes = {one.name: one.shape for one in mistral.blueprint(params, WHERE).tensors() if one.kind == "parameter"}
    if draft:
        shapes = {name: one for name, one in shapes.items() if not name.startswith(("tok_embeddings", "output"))}
        shapes["eagle_linear.weight"] = (12, 24)
    found: Tensors = {}
    for name, shape in shapes.items():
        module = name.removesuffix("weight")
        if len(shape) == 2 and name.startswith(("layers.", "eagle")) and not module.endswith("gate."):
            found |= {
                name: ("F8_E4M3", tuple(shape)),
                f"{module}qscale_weight": ("F32", ()),
                f"{module}qscale_act": ("F32", ()),
            }
        else:
            found[name] = ("BF16", tuple(shape))
    return {name: one for name, one in found.items() if name not in without}


FP8 = {"quantization": {"qformat_weight": "fp8_e4m3", "qscheme_act": "TENSOR"}}
SEEING = LATENT | {"moe": SHARED, "vision_encoder": VISION | MERGED}


@pytest.mark.parametrize(
    ("changes", "without", "draft", "verdict"),
    [
        (FP8, (), False, "verified"),
        (FP8 | {"moe": EXPERTS}, (), False, "verified"),
        (FP8 | SEEING, (), False, "verified"),
        (FP8, (), True, "verified"),
        (FP8, ("layers.1.attention.wq.qscale_act",), False, "mismatch"),
        (FP8, ("layers.1.attention.wq.qscale_weight",), True, "mismatch"),
        (FP8, ("layers.1.attention.wq.weight",), True, "mismatch"),
        (FP8, ("norm.weight",), False, "mismatch"),
        ({"quantization": {"qformat_weight": "fp8_e4m3", "qscheme_act": "NO_SCALES"}}, (), False, "mismatch"),
        ({"quantization": {"qformat_weight": "int4"}}, (), False, "unverified"),
        ({}, (), False, "mismatch"),
    ],
)
def test_packed_layers(
    changes: dict[str, Any], without: tuple[str, ...], draft: bool, verdict: str, tmp_path: Path
) -> None:
    (tmp_path / "params.json").write_text(json.dumps(PARAMS | changes))
    plain = PARAMS | {key: one for key, one in changes.items() if key != "quantization"}
    (tmp_path / "consolidated.safetensors").write_bytes(raw(packed(plain, *without, draft=draft)))
    assert hfcount.verify(str(tmp_path)).verdict == verdict


def test_a_draft_that_takes_its_embedding_and_head_of_another_model(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text(json.dumps(PARAMS))
    shapes = {
        one.name: ("BF16", tuple(one.shape))
        for one in mistral.blueprint(PARAMS, WHERE).tensors()
        if one.kind == "parameter"
    }
    stored = {name: one for name, one in shapes.items() if not name.startswith(("tok_embeddings", "output"))}
    for rows, verdict in ((24, "verified"), (23, "mismatch")):
        (tmp_path / "consolidated.safetensors").write_bytes(raw(stored | {"eagle_linear.weight": ("BF16", (12, rows))}))
        assert hfcount.verify(str(tmp_path)).verdict == verdict


def test_positions_of_speech_are_not_stored() -> None:
    names = [one.name for one in mistral.blueprint(PARAMS | {"multimodal": heard()}, WHERE).tensors()]
    text, tower, projection = 3 * 9 + 3, 2 * 15 + 2 + 4, 2
    assert len(names) == text + tower + projection
    assert not [name for name in names if "positions" in name or "language_model" in name or name.startswith("tok_")]


def test_packed_as_compressed_tensors_does(tmp_path: Path) -> None:
    weights = {"num_bits": 8, "type": "float", "symmetric": True, "strategy": "tensor", "dynamic": False}
    group = {"targets": ["Linear"], "weights": weights, "input_activations": None}
    settings = {"quant_method": "compressed_tensors", "format": "float-quantized", "ignore": ["output"]}
    params = PARAMS | {"quantization": settings | {"config_groups": {"group_0": group}}}
    (tmp_path / "params.json").write_text(json.dumps(params))
    stored: Tensors = {}
    for one in mistral.blueprint(PARAMS, WHERE).tensors():
        packs = one.name.startswith("layers.") and len(one.shape) == 2
        stored[one.name] = ("F8_E4M3" if packs else "BF16", tuple(one.shape))
        if packs:
            stored[f"{one.name}_scale"] = ("BF16", (1,))
    (tmp_path / "consolidated.safetensors").write_bytes(raw(stored))
    assert hfcount.verify(str(tmp_path)).verdict == "verified"
    del stored["layers.0.attention.wq.weight_scale"]
    (tmp_path / "consolidated.safetensors").write_bytes(raw(stored))
    assert hfcount.verify(str(tmp_path)).verdict == "mismatch"


def test_a_tied_head_is_not_stored() -> None:
    names = {one.name for one in mistral.blueprint(PARAMS | {"tied_embeddings": True}, WHERE).leaves if not one.tied_to}
    assert "tok_embeddings.weight" in names
    assert "output.weight" not in names


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"dim": None}, ConfigError, "has no dim"),
        ({"n_heads": "4"}, ConfigError, '"4" for n_heads'),
        ({"moe": 8}, ConfigError, "moe is 8"),
        ({"moe": EXPERTS | {"expert_hidden_dim": 5}}, UnknownArchitecture, "expert_hidden_dim in moe"),
        ({"quantization": {"bits": 4}}, UnknownArchitecture, "how quantization by bits in quantization packs"),
        ({"quantization": "fp8"}, ConfigError, 'quantization is "fp8", but must be an object'),
        ({"model_type": "mamba", "n_heads": None}, UnknownArchitecture, "model_type in params"),
        ({"use_biases": True}, UnknownArchitecture, "use_biases in params"),
        ({"multimodal": {"vision_encoder_args": {}}}, UnknownArchitecture, "vision_encoder_args in multimodal"),
        ({"multimodal": {"whisper_model_args": {}}}, ConfigError, "encoder_args is null, but must be an object"),
        ({"multimodal": heard(causal=True)}, UnknownArchitecture, "Voxtral Realtime's, is not described"),
        ({"multimodal": heard(head_dim=3)}, UnknownArchitecture, "head_dim 3 of encoder_args, where its heads give 4"),
        ({"multimodal": heard(n_kv_heads=1)}, UnknownArchitecture, "n_kv_heads 1 of encoder_args"),
        ({"multimodal": heard(hidden_dim=15)}, UnknownArchitecture, "a projection of 2 frames"),
        ({"multimodal": heard(dim="8")}, ConfigError, '"8" for dim'),
        ({"sliding_window": [None, 8]}, ConfigError, "sliding_window lists 2 windows for 3 layers"),
        ({"sliding_window": [8, 8, 9]}, ConfigError, "all that are not null must be alike"),
        ({"sliding_window": "8"}, ConfigError, '"8" for sliding_window'),
        ({"sliding_window": [None, 8, 8], "moe": EXPERTS}, UnknownArchitecture, "not described beside moe"),
        ({"n_layers": 2**62, "sliding_window": [None, 8]}, ConfigError, "100,000 at most"),
        ({"tied_embeddings": "yes"}, ConfigError, '"yes" for tied_embeddings'),
        ({"multimodal": heard(), "tied_embeddings": True}, UnknownArchitecture, "tied_embeddings brings"),
        (LATENT | {"moe": SHARED | {"use_load_balancing_bias": True}}, UnknownArchitecture, "use_load_balancing_bias"),
        ({"moe": SHARED}, UnknownArchitecture, "num_shared_experts in moe"),
        ({"vision_encoder": VISION | {"mm_projector_id": "patch_merge"}}, UnknownArchitecture, "without a norm"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        mistral.blueprint(PARAMS | changes, WHERE)


def _alone(folder: Path, *without: str, files: int = 1) -> Path:
    """The layout without a config.json, in some files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WHERE).write_text(json.dumps(PARAMS))
    tensors = [(one.name, ("BF16", one.shape)) for one in mistral.blueprint(PARAMS, WHERE).tensors()]
    for number in range(files):
        part = {name: one for name, one in tensors[number::files] if name not in without}
        name = f"consolidated-{number + 1:05}-of-{files:05}.safetensors" if files > 1 else "consolidated.safetensors"
        (folder / name).write_bytes(raw(part))
    return folder


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize("without", [(), ("norm.weight",)])
def test_a_folder_and_a_repo(hub: Hub, run: Run, tmp_path: Path, files: int, without: tuple[str, ...]) -> None:
    folder = _alone(tmp_path / "tiny", *without, files=files)
    codes = ["HF201"] if without else []
    report = hfcount.verify(str(folder))
    assert ([one.code for one in report.findings], report.family) == (codes, "mistral")
    hub.publish("org/tiny", folder)
    online = run("org/tiny").report
    assert ([one["code"] for one in online["findings"]], online["verdict"]) == (codes, report.verdict)
    kept = run("org/tiny", "--offline").report
    assert kept["findings"] == online["findings"]
