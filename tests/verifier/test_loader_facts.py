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
        assert found.unknown == row.get("unknown", "")
        assert len(found.needs) == len(row.get("needs", ()))
        assert len(found.refuses) == len(row.get("refuses", ()))
        assert len(found.sizes) == len(row.get("sizes", ()))


def test_what_a_version_does_not_have() -> None:
    assert facts("5.24.0", "no such type") is None
    with pytest.raises(KeyError):
        facts("1.0.0", "llama")


def test_a_prefix_that_is_not_read() -> None:
    pair = ("vision_tower.", "vision_tower.vision_model.")
    assert known("4.57.1", "llava").renamed == {"*": (pair,)}
    assert known("5.24.0", "llava").renamed == {}


def test_a_key_under_another_name() -> None:
    assert known("4.57.1", "qwen3_moe").sizes == (("num_local_experts", "num_experts", 128),)
    assert not known("5.24.0", "qwen3_moe").sizes


def test_differences_in_phrases() -> None:
    (phrase,) = known("4.57.1", "granitemoehybrid").differences
    assert phrase.startswith("refuses layer_types = ") and "linear_attention" in phrase
    assert known("4.57.1", "llama").differences == ["loaded its recorded checkpoint whole"]
    assert known("4.57.1", "qwen3_vl").differences == ["needs text_config.rope_scaling"]


@pytest.mark.long
def test_the_installed_version_does_the_same() -> None:
    transformers = pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings it")
    pytest.importorskip("torch", reason="`pip install -e '.[oracle]'` brings it")
    if transformers.__version__ not in versions():
        pytest.skip(f"nothing is recorded of {transformers.__version__}")
    types = ["clip_vision_model", "deepseek_v3", "llama", "llava", "qwen3_moe"]
    command = [sys.executable, str(ROOT / "tests" / "tools" / "loaders.py"), "--types", ",".join(types)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    found = json.loads(done.stdout[done.stdout.index('{"library"') :])
    assert found["types"] == {kind: FILES[transformers.__version__]["types"][kind] for kind in types}
