"""What diffusers builds of any config of the classes described has the names and shapes that hfcount says."""

import json
from math import prod
from pathlib import Path

import pytest

_EXTRA = "`pip install -e '.[oracle]'` brings torch and diffusers"
pytest.importorskip("torch", reason=_EXTRA)
diffusers = pytest.importorskip("diffusers", reason=_EXTRA)
from diffusers_oracle import RECORDED, described, judged, variants  # noqa: E402 - needs diffusers

import hfcount  # noqa: E402 - after what may be missing
from hfcount.mapper.reference import declared, diffusers_version  # noqa: E402 - after what may be missing

pytestmark = pytest.mark.long

EACH = 5


@pytest.mark.parametrize("name", RECORDED)
def test_varied_configs_agree(name: str) -> None:
    told = [(judged(values), values) for values in variants(RECORDED[name], EACH, "always")]
    assert [(how, values) for (verdict, how), values in told if verdict == "differs"] == []
    assert told[0][0][0] == "agrees"


@pytest.mark.parametrize("name", RECORDED)
def test_a_config_without_keys_is_the_class_without_arguments(name: str) -> None:
    verdict, how = judged({"_class_name": name})
    assert verdict in ("agrees", "refused"), how  # some need arguments, and both say so


def test_defaults_are_those_that_diffusers_declares() -> None:
    from diffusers_defaults import FILE, recorded, text

    if diffusers.__version__ != diffusers_version():
        pytest.skip(f"the record is of diffusers {diffusers_version()}, and {diffusers.__version__} is installed")
    assert FILE.read_text() == text(recorded())
    assert declared("AutoencoderKL").settled


def test_a_class_that_no_family_describes_is_built_by_diffusers(tmp_path: Path) -> None:
    config = {"_class_name": "UVit2DModel", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config |= {"block_out_channels": 16, "block_num_heads": 2, "encoder_hidden_size": 16, "cond_embed_dim": 8}
    (tmp_path / "config.json").write_text(json.dumps(config | {"vocab_size": 10, "codebook_size": 8}))
    report = hfcount.verify(str(tmp_path), depth="config", derive_with="diffusers")
    assert report.derived_with == f"diffusers {diffusers.__version__}"
    theirs = described(config | {"vocab_size": 10, "codebook_size": 8})
    assert report.parameters is not None
    assert report.parameters.total == sum(map(prod, theirs.values()))
