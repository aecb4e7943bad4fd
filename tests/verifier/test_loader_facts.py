"""What versions of transformers make of checkpoints: the recorded files, and what the installed version says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

from hfcount.verifier.loaders import facts as reader
from hfcount.verifier.loaders.facts import Facts, facts, versions

FOLDER = Path(reader.__file__).parent
FILES = {version: json.loads((FOLDER / f"transformers-{version}.json").read_text()) for version in versions()}


def known(version: str, kind: str) -> Facts:
    found = facts(version, kind)
    assert found is not None, (version, kind)
    return found


def test_three_versions_are_recorded() -> None:
    assert versions() == ("4.57.1", "5.23.0", "5.24.0")


@pytest.mark.parametrize("version", versions())
def test_every_line_is_found_without_the_others(version: str) -> None:
    whole = FILES[version]
    assert (whole["library"], whole["version"]) == ("transformers", version)
    assert list(whole["types"]) == sorted(whole["types"])
    for kind, row in whole["types"].items():
        found = known(version, kind)
        assert " ".join(sorted(found.classes)) == row.get("classes", "")
        assert found.keys == row.get("keys", {})
        assert len(found.refuses) == len(row.get("refuses", ()))
        assert len(found.sizes) == len(row.get("sizes", ()))


def test_what_a_version_does_not_have() -> None:
    assert facts("5.24.0", "no such type") is None
    with pytest.raises(KeyError):
        facts("1.0.0", "llama")


def test_a_name_that_is_not_read() -> None:
    older, name = known("4.57.1", "llava"), "model.vision_tower.embeddings.class_embedding"
    wanted = "model.vision_tower.vision_model.embeddings.class_embedding"
    assert older.wanted(name, "LlavaForConditionalGeneration") == wanted
    assert older.wanted(name.removeprefix("model."), "LlavaModel") == wanted.removeprefix("model.")
    assert older.wanted(wanted, "LlavaForConditionalGeneration") is None
    assert known("5.24.0", "llava").wanted(name, "LlavaForConditionalGeneration") is None


def test_a_key_under_another_name() -> None:
    assert known("4.57.1", "qwen3_moe").sizes == (("num_local_experts", "num_experts", 128),)
    assert not known("5.24.0", "qwen3_moe").sizes


def test_words_that_are_refused() -> None:
    (refused,) = known("4.57.1", "granitemoehybrid").refuses
    assert refused.holds(["linear_attention", "attention"])
    assert not refused.holds(["mamba", "attention"])
    assert not refused.holds(None)


def test_rows_that_stay_in_float32() -> None:
    name = "model.layers.3.mlp.gate.e_score_correction_bias"
    assert known("5.24.0", "deepseek_v3").keeps_float32(name)
    assert not known("5.24.0", "deepseek_v3").keeps_float32("model.layers.3.mlp.gate_proj.weight")


@pytest.mark.long
def test_the_installed_version_does_the_same() -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    if transformers.__version__ not in versions():
        pytest.skip(f"nothing is recorded of {transformers.__version__}")
    types = ["clip_vision_model", "deepseek_v3", "llama", "llava", "qwen3_moe"]
    command = [sys.executable, str(ROOT / "tests" / "tools" / "loaders.py"), "--types", ",".join(types)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    found = json.loads(done.stdout[done.stdout.index('{"library"') :])
    assert found["types"] == {kind: FILES[transformers.__version__]["types"][kind] for kind in types}
