"""Models of open_clip and LeRobot, and what is said of repos of libraries that are not read."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from defects import ACT, OPEN_CLIP, Checkpoint, Tensors, clip, held, policy, raw

import hfcount
from hfcount.errors import HfcountError
from hfcount.layouts import open_clip

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
        ({"text_cfg": {"hf_model_name": "roberta-base"}}, "unverified", "the config of roberta-base"),
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
        ({"type": "smolvla"}, "unverified", "the config of vlm_model_name"),
        ({"type": "mine"}, "unverified", "Described are act, diffusion, tdmpc, vqbet"),
    ],
)
def test_a_config_of_lerobot_beside_the_weights_of_another(
    changes: Json, verdict: str, says: str, tmp_path: Path
) -> None:
    checkpoint = policy({})
    checkpoint.config = changed(ACT, **changes)
    found, text = said(checkpoint, tmp_path)
    assert (found, says in text) == (verdict, True), text


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
        ({"v1-5-pruned.safetensors": 0, "v1-inference.yaml": 0}, "a diffusion model in one file"),
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
