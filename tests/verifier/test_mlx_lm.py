"""What mlx-lm makes of checkpoints: the recorded file, and readings by it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT

from hfcount.formats.index import Index
from hfcount.mapper.quantization_config import announcements
from hfcount.quantization.schemes.mlx import Grouped
from hfcount.verifier.loaders import catalogue, recorded
from hfcount.verifier.loaders.loader import Checkpoint, Reading
from hfcount.verifier.loaders.mlx_lm import facts as mlx_lm_facts
from hfcount.verifier.loaders.mlx_lm import reading as mlx_lm

VERSION = recorded.versions("mlx-lm")[-1]
FILE = Path(catalogue.__file__).parent / f"mlx-lm-{VERSION}.json"

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "rms_norm_eps": 1e-6,
    "vocab_size": 128,
    "tie_word_embeddings": False,
}
PACKED = {"model.embed_tokens.weight": "", "model.embed_tokens.scales": "", "lm_head.weight": ""}


def read(values: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Reading:
    weight_map = {"lm_head.weight": "", "model.norm.weight": ""} if names is None else names
    files = dict.fromkeys(weight_map, "model.safetensors")
    index = Index(files, frozenset(files.values()), None, None)
    checkpoint = Checkpoint(form="model", values=values, agrees=True, index=index, announced=announcements(values))
    return mlx_lm.read(catalogue.loader("mlx-lm"), checkpoint)


def test_every_line_is_found_without_the_others() -> None:
    whole = json.loads(FILE.read_text())
    assert (whole["library"], whole["version"]) == ("mlx-lm", VERSION)
    for kind, row in whole["types"].items():
        found = mlx_lm_facts.facts(VERSION, *kind.split())
        assert found is not None
        assert (found.module, found.unknown) == (row["module"], row.get("unknown", ""))
    assert mlx_lm_facts.facts(VERSION, "no such type") is None


@pytest.mark.parametrize(
    "changes, outcome, says",
    [
        ({}, "whole", ""),
        ({"rope_theta": 500_000.0}, "whole", ""),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0}}, "whole", ""),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}, "differs", "takes rope_theta 10,000 for"),
        ({"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}}, "differs", "rope_type linear"),
        (
            {"rope_theta": "1e4", "rope_parameters": {"rope_type": "default", "rope_theta": 5e5}},
            "differs",
            'takes rope_theta "1e4" for 500,000',
        ),
        (
            {"rope_theta": 1e4, "rope_parameters": {"rope_type": "default", "rope_theta": ["5e5"]}},
            "differs",
            "takes rope_theta 10,000.0 for a list",
        ),
        ({"rope_theta": float("nan"), "rope_parameters": {"rope_type": "default"}}, "whole", ""),
        (
            {"rope_theta": 10**5000, "rope_parameters": {"rope_type": "default", "rope_theta": 5e5}},
            "differs",
            "takes rope_theta a number of 16610 bits for 500,000",
        ),
        ({"hidden_act": "gelu"}, "differs", "does not read hidden_act"),
        ({"hidden_act": "swish"}, "whole", ""),
        ({"tie_word_embeddings": True}, "differs", "drops the stored lm_head.weight"),
        ({"model_type": "no_such_type"}, "refuses", "has no model_type"),
        ({"model_type": None}, "refuses", "needs model_type"),
        ({"model_file": "custom.py"}, "refuses", "trust_remote_code"),
        ({"quantization_config": {"bits": 4, "group_size": 64}}, "refuses", "needs quantization"),
        ({"quantization_config": {"quant_method": "torchao"}}, "refuses", "does not convert torchao"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 8}}, "refuses", "gptq of 8 bits"),
        ({"quantization": {"group_size": 64}}, "refuses", "needs quantization.bits"),
        ({"quantization": {"group_size": 64, "bits": 4}}, "whole", ""),
        ({"quantization": {"group_size": 64, "bits": 4, "lm_head": False}}, "whole", ""),
        ({"quantization": {"group_size": 64, "bits": 4, "model.embed_tokens": False}}, "refuses", "says is dense"),
    ],
)
def test_a_checkpoint_of_llama(changes: dict[str, Any], outcome: str, says: str) -> None:
    reading = read({**LLAMA, **changes}, PACKED if "quantization" in changes else None)
    assert (reading.outcome, says in reading.says) == (outcome, True), reading


def test_a_key_that_is_needed() -> None:
    reading = read({key: value for key, value in LLAMA.items() if key != "rms_norm_eps"})
    assert (reading.outcome, reading.says) == ("refuses", "needs rms_norm_eps")


@pytest.mark.parametrize(
    ("name", "outcome"), [("experts.down_proj", "refuses"), ("experts.0.down_proj.weight", "unknown")]
)
def test_names_for_which_a_recorded_checkpoint_was_refused(name: str, outcome: str) -> None:
    names = {"model.embed_tokens.weight": "", f"model.layers.3.mlp.{name}": ""}
    reading = read(_all_keys("kimi_k2"), names)
    assert (reading.outcome, name in reading.says) == (outcome, outcome == "refuses")


def _all_keys(kind: str) -> dict[str, Any]:
    """A config that has every key which its class needs."""
    row = json.loads(FILE.read_text())["types"][kind]
    return {"model_type": kind, **dict.fromkeys(row.get("needs", ()), 1)}


def test_a_head_that_is_needed() -> None:
    assert read(LLAMA, {"model.norm.weight": ""}).outcome == "refuses"
    assert read({**LLAMA, "tie_word_embeddings": True}, {"model.norm.weight": ""}).outcome == "whole"


@pytest.mark.parametrize(
    "values, library",
    [
        (LLAMA, "transformers"),
        ({**LLAMA, "quantization": {"group_size": 64, "bits": 4}}, "mlx-lm"),
        ({**LLAMA, "quantization_config": {"group_size": 64, "bits": 4}}, "mlx-lm"),
        ({**LLAMA, "quantization": {"group_size": 64, "bits": 4}, "vision_config": {}}, None),
        ({"model_type": "whisper", "quantization": {"group_size": 64, "bits": 4}}, None),
    ],
)
def test_the_home_of_a_checkpoint(values: dict[str, Any], library: str | None) -> None:
    home = catalogue.home(Checkpoint(form="model", values=values, announced=announcements(values)))
    assert [loader.library for loader in home] == ([library] if library else [])


def test_bits_are_inferred_where_no_entry_says_them() -> None:
    said, stored = Grouped(8, 64, inferred=True), Grouped(4, 32, inferred=True)
    assert stored in said.readings
    assert said.alike(stored)
    assert not Grouped(8, 64).alike(Grouped(4, 64))
    assert not Grouped(8, 64).readings


def test_of_two_announcements_the_one_that_mlx_reads_counts() -> None:
    both = {"quantization_config": {"bits": 8, "group_size": 64}, "quantization": {"bits": 4, "group_size": 64}}
    (announced,) = announcements(both)
    assert (announced.key, announced.settings["bits"]) == ("quantization", 4)


@pytest.mark.long
def test_the_installed_version_does_the_same() -> None:
    pytest.importorskip("mlx_lm", reason="mlx-lm is installed where it is recorded: pip install mlx-lm 'mlx[cpu]'")
    pytest.importorskip("torch", reason="`pip install -e '.[oracle]'` brings it")
    types = ["llama", "qwen2", "qwen3", "stablelm"]
    command = [sys.executable, str(ROOT / "tests" / "tools" / "mlx_lm_facts.py"), "--types", ",".join(types)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    found = json.loads(done.stdout[done.stdout.index('{"library"') :])
    if found["version"] != VERSION:
        pytest.skip(f"nothing is recorded of {found['version']}")
    recorded = json.loads(FILE.read_text())["types"]
    assert found["types"] == {kind: recorded[kind] for kind in types}
