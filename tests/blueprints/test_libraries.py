"""Models of open_clip and LeRobot, and what is said of repos of libraries that are not read."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from defects import ACT, OPEN_CLIP, Checkpoint, Tensors, clip, held, policy, raw

import hfcount
from hfcount.blueprints.libraries import lerobot, open_clip
from hfcount.blueprints.libraries.named_models import KNOWN
from hfcount.errors import HfcountError
from hfcount.mapper import Config

Json = dict[str, Any]
SINGLE = "open_clip_model.safetensors"


def changed(values: Json, **changes: Any) -> Json:
    """A copy with other values; `a__b` is b in a, and None takes a key out."""
    found: Json = copy.deepcopy(values)
    for way, value in changes.items():
        inner, (*above, key) = found, way.split("__")
        for name in above:
            inner = inner[name]
        inner.pop(key, None)
        if value is not None:
            inner[key] = value
    return found


def said(checkpoint: Checkpoint, folder: Path) -> tuple[str, str]:
    """The verdict on a checkpoint, and all that is said of it."""
    return told(checkpoint.write(folder / "m"))


def told(folder: Path) -> tuple[str, str]:
    """The same of a folder."""
    try:
        report = hfcount.verify(str(folder))
    except HfcountError as error:
        return "unverified", str(error)
    texts = [finding.message for finding in report.findings]
    texts += [report.error.message if report.error else "", *(report.asides or {}).values()]
    return report.verdict, " ".join(texts)


@pytest.mark.parametrize(
    ("changes", "verdict", "says"),
    [
        ({}, "verified", ""),
        ({"embed_dim": 16}, "mismatch", "visual.proj: expected 16×16, stored 16×12"),
        ({"vision_cfg__patch_size": 2}, "mismatch", "visual.positional_embedding"),
        ({"vision_cfg__layers": 3}, "mismatch", "visual.transformer.resblocks.2.ln_1.weight"),
        ({"text_cfg__qk_norm": True}, "mismatch", "text.transformer.resblocks"),
        ({"init_logit_bias": -10}, "mismatch", "logit_bias"),
        ({"nonscalar_logit_scale": True}, "verified", ""),
        ({"quick_gelu": True}, "verified", ""),
        ({"vision_cfg__head_width": 5}, "mismatch", "3 attention heads"),
        ({"vision_cfg__global_average_pool": True}, "unverified", "global_average_pool in vision_cfg is no key"),
        ({"vision_cfg": {"timm_model_name": "mine"}}, "unverified", "no architecture mine"),
        ({"text_cfg": {"hf_model_name": "me/mine"}}, "unverified", "the config of me/mine, which is not here"),
        ({"text_cfg": {"hf_model_name": "roberta-base"}}, "mismatch", "text.transformer.embeddings"),
        ({"text_cfg": {"hf_model_name": ["roberta-base"]}}, "mismatch", "hf_model_name"),
        ({"custom_text": None, "multimodal_cfg": {}}, "mismatch", "multimodal_cfg needs custom_text"),
        ({"vision_cfg": None}, "mismatch", "has no vision_cfg"),
    ],
)
def test_a_config_of_open_clip_beside_the_weights_of_another(
    changes: Json, verdict: str, says: str, tmp_path: Path
) -> None:
    checkpoint = clip()
    document = {"model_cfg": changed(OPEN_CLIP, **changes)}
    checkpoint.others["open_clip_config.json"] = json.dumps(document).encode()
    found, text = said(checkpoint, tmp_path)
    assert (found, says in text) == (verdict, True), text


@pytest.mark.parametrize(
    ("files", "verdict"),
    [
        ((SINGLE,), "verified"),
        ((SINGLE, "model.safetensors"), "verified"),
        (("open_clip_pytorch_model.safetensors",), "verified"),
        ((), "unverified"),
    ],
)
def test_the_files_that_open_clip_looks_for(files: tuple[str, ...], verdict: str, tmp_path: Path) -> None:
    checkpoint = clip()
    checkpoint.shards = dict.fromkeys(files, checkpoint.tensors)
    assert said(checkpoint, tmp_path)[0] == verdict


CLIP = {
    "architectures": ["CLIPModel"],
    "model_type": "clip",
    "projection_dim": 12,
    "vision_config": {
        "hidden_size": 16,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 8,
        "patch_size": 4,
    },
    "text_config": {
        "hidden_size": 20,
        "intermediate_size": 80,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "vocab_size": 50,
        "max_position_embeddings": 7,
    },
}


def both(values: Json, *without: str) -> Checkpoint:
    """A CLIP of transformers, and beside it one of open_clip by this config, less some tensors of OPEN_CLIP."""
    stored: Tensors = held(open_clip.config({"model_cfg": OPEN_CLIP}, ""))
    kept = {name: one for name, one in stored.items() if name not in without}
    others = {"open_clip_config.json": json.dumps({"model_cfg": values}).encode(), SINGLE: raw(kept)}
    return Checkpoint(CLIP, {"model.safetensors": held(CLIP)}, {}, others=others)


@pytest.mark.parametrize(
    ("make", "codes"),
    [
        (lambda: both(OPEN_CLIP), set()),
        (lambda: both(OPEN_CLIP, "visual.proj"), {"HF808"}),
        (lambda: both(changed(OPEN_CLIP, text_cfg__layers=2)), {"HF808", "HF809"}),
        (lambda: both(changed(OPEN_CLIP, vision_cfg={"timm_model_name": "mine"})), set()),
    ],
)
def test_both_forms_of_a_clip(make: Callable[[], Checkpoint], codes: set[str], tmp_path: Path) -> None:
    report = hfcount.verify(str(make().write(tmp_path / "m")))
    assert {finding.code for finding in report.findings} == codes
    assert report.verdict == ("mismatch" if codes else "verified")


@pytest.mark.parametrize(
    ("changes", "verdict", "says"),
    [
        ({}, "verified", ""),
        ({"dim_model": 18}, "mismatch", "expected"),
        ({"output_features": {"action": {"type": "ACTION", "shape": [7]}}}, "mismatch", "expected 16×7, stored 16×5"),
        ({"chunk_size": 11}, "mismatch", "expected 1×13×16, stored 1×12×16"),
        ({"input_features": {}}, "mismatch", "neither an image (VISUAL) nor a state"),
        ({"output_features": {}}, "mismatch", "no action of type ACTION"),
        ({"type": "smolvla", "vlm_model_name": "me/mine"}, "unverified", "built around me/mine, whose config is not"),
        ({"type": "pi0", "paligemma_variant": "gemma_7b"}, "mismatch", 'has "gemma_7b" for paligemma_variant'),
        ({"type": "pi05", "image_resolution": [224, 448]}, "mismatch", "a height and a width that are equal"),
        ({"type": "groot"}, "unverified", "a model of NVIDIA with code of its own"),
        ({"type": "mine"}, "unverified", "Described are act, diffusion, tdmpc, vqbet, pi0, pi05, smolvla"),
    ],
)
def test_a_config_of_lerobot_beside_the_weights_of_another(
    changes: Json, verdict: str, says: str, tmp_path: Path
) -> None:
    checkpoint = policy({})
    checkpoint.config = changed(ACT, **changes)
    found, text = said(checkpoint, tmp_path)
    assert (found, says in text) == (verdict, True), text


def test_statistics_of_processors_are_no_part_of_a_policy(tmp_path: Path) -> None:
    checkpoint = policy({})
    files = ("policy_preprocessor_step_5_normalizer_processor", "policy_postprocessor_step_0_unnormalizer_processor")
    checkpoint.others |= {f"{name}.safetensors": raw({"action.mean": ("F32", (5,))}) for name in files}
    assert said(checkpoint, tmp_path)[0] == "verified"


SMALL = "HuggingFaceTB/SmolVLM2-500M-Video-Instruct"
VLA: dict[str, Json] = {kind: {"type": kind, "output_features": {}} for kind in ("pi0", "pi05", "smolvla")}


@pytest.mark.parametrize(
    ("kind", "changes", "parameters", "tensors"),  # as LeRobot 0.4.4 builds them, of tied tensors one
    [
        ("pi0", {}, 3_501_372_176, 777),
        ("pi0", {"paligemma_variant": "gemma_300m"}, 1_567_629_072, 777),
        ("pi0", {"image_resolution": [448, 448], "max_action_dim": 7}, 3_502_205_687, 777),
        ("pi05", {}, 3_616_757_520, 812),
        ("smolvla", {}, 450_046_176, 500),
        ("smolvla", {"num_vlm_layers": 0, "attention_mode": "self_attn"}, 709_704_416, 788),
        ("smolvla", {"num_expert_layers": 4, "self_attn_every_n_layers": -1}, 375_850_336, 392),
        ("smolvla", {"vlm_model_name": "HuggingFaceTB/SmolVLM2-256M-Video-Instruct"}, 243_967_328, 500),
    ],
)
def test_policies_around_a_language_model(kind: str, changes: Json, parameters: int, tensors: int) -> None:
    config = lerobot.config(VLA[kind] | changes, "")
    if kind == "smolvla":
        config = lerobot.with_named(config, KNOWN[changes.get("vlm_model_name", SMALL)], "")
    blueprint = lerobot.built(Config(config, ""))
    assert (blueprint.total, sum(row.count for row in blueprint.rows() if row.kind == "parameter")) == (
        parameters,
        tensors,
    )


def test_the_config_of_a_model_that_a_policy_names(tmp_path: Path) -> None:
    sizes = {"num_hidden_layers": 3, "hidden_size": 12, "num_attention_heads": 2, "intermediate_size": 20}
    named = {"model_type": "smolvlm", "scale_factor": 2, "tie_word_embeddings": False}
    named |= {"text_config": {"model_type": "llama", "vocab_size": 9, "num_key_value_heads": 1, **sizes}}
    named |= {"vision_config": {"model_type": "smolvlm_vision", "image_size": 32, "patch_size": 16, **sizes}}
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "config.json").write_text(json.dumps(named))
    values = VLA["smolvla"] | {"vlm_model_name": "me/mine", "num_vlm_layers": 2}
    stored = held(lerobot.with_named(lerobot.config(values, ""), named, ""))
    folder = Checkpoint(values, {"model.safetensors": stored}).write(tmp_path / "m")
    assert told(folder)[0] == "unverified"
    assert hfcount.verify(str(folder), base=str(tmp_path / "named")).verdict == "verified"


WHISPER = {"alignment_heads": [[1, 2]], "lang_ids": [5], "suppress_ids": [1]}
BERT = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "vocab_size": 50,
    "hidden_size": 12,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"config.json": WHISPER, "model.bin": 0, "vocabulary.txt": 0}, "a model that CTranslate2 converted"),
        ({"model.bin": 0, "shared_vocabulary.json": 0}, "a conversion by CTranslate2 (model.bin)"),
        ({"parakeet.nemo": 0}, "an archive of NeMo (parakeet.nemo), which is not read: `tar -tf`"),
        ({"hyperparams.yaml": 0, "embedding_model.ckpt": 0}, "a model of SpeechBrain (hyperparams.yaml)"),
        ({"config.json": {"speechbrain_interface": "EncoderClassifier"}}, "the config of a model of SpeechBrain"),
        ({"config.yaml": 0, "pytorch_model.bin": 0}, "a model or pipeline of pyannote.audio (config.yaml)"),
        ({"config.yaml": 0, "handler.py": 0}, "a model or pipeline of pyannote.audio (config.yaml)"),
        ({"meta.json": 0, "config.cfg": 0, "ner/model": 0}, "a pipeline of spaCy (meta.json)"),
        ({"pytorch_model.bin": 0, "training.log": 0}, "a model of Flair (pytorch_model.bin)"),
        ({"yolov8n.pt": 0}, "a model of Ultralytics (yolov8n.pt)"),
        ({"split_files/vae/wan.safetensors": 0}, "files for ComfyUI (split_files/vae/wan.safetensors)"),
        ({"v1-5-pruned.ckpt": 0, "v1-inference.yaml": 0}, "a diffusion model in one file"),
        (
            {"config.json": {"class_name": "GemmaBackbone", "registered_name": "x", "config": {}}},
            "the config of a model of Keras",
        ),
        ({"metadata.json": 0, "model.weights.h5": 0}, "a model of Keras (metadata.json)"),
        ({"config.json": BERT, "openvino_model.bin": 0}, "only OpenVINO (openvino_model.bin), which is not read: name"),
        ({"config.json": BERT, "onnx/model.onnx": 0}, "only ONNX (onnx/model.onnx), which is not read: name the model"),
        ({"config.json": BERT, "tf_model.h5": 0}, "only TensorFlow (tf_model.h5), which is not read: load it"),
        ({"config.json": BERT, "flax_model.msgpack": 0}, "only Flax (flax_model.msgpack), which is not read: load it"),
        (
            {"saved_model.pb": 0, "variables/variables.index": 0},
            "only TensorFlow (saved_model.pb), which is not read: name",
        ),
    ],
)
def test_what_repos_of_other_libraries_are(files: Json, says: str, tmp_path: Path) -> None:
    for name, content in files.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"\1" * 99 if content == 0 else json.dumps(content).encode())
    verdict, text = told(tmp_path)
    assert (verdict, says in text) == ("unverified", True), text
