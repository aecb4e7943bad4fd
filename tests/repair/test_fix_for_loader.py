"""`hfcount fix --for`: keys that one loader looks for, written where all others then read the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from engine_cases import LLAMA, Json, of
from paths import ARCHITECTURES

from hfcount.cli.commands import find
from hfcount.repair.plan import planned
from hfcount.verifier.loaders.catalogue import loader

LINEAR: Json = {"rope_type": "linear", "rope_theta": 5e5, "factor": 4.0}
LLAMA3: Json = {
    "rope_type": "llama3",
    "rope_theta": 5e5,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
GRANITE: Json = dict.fromkeys(("attention_multiplier", "embedding_multiplier", "residual_multiplier"), 1.0)
GRANITE |= {"logits_scaling": 1.0, "rms_norm_eps": 1e-6, "max_position_embeddings": 64}
GLM: Json = {"rms_norm_eps": 1e-6, "max_position_embeddings": 64}
MLX = "mlx-lm"


def rotary(kind: str, settings: Json, **changes: Any) -> Json:
    """The recorded config of a type, with these settings and no other of rotary positions."""
    config: Json = LLAMA if kind == "llama" else json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    flat = ("rope_theta", "rope_scaling", "partial_rotary_factor", "rope_local_base_freq")
    return {key: value for key, value in config.items() if key not in flat} | {"rope_parameters": settings} | changes


def plain(theta: float = 5e5, **more: Any) -> Json:
    return {"rope_type": "default", "rope_theta": theta, **more}


KINDS = {"full_attention": plain(), "sliding_attention": plain(4e3)}
BESIDE = {key: value for key, value in LLAMA3.items() if key != "rope_theta"}

# A config, the loader, and the keys that are written.
WRITTEN: dict[str, tuple[Json, str, Json]] = {
    "another base": (rotary("llama", plain()), MLX, {"rope_theta": 5e5}),
    "the base of the class, which is needed": (rotary("granite", plain(1e4), **GRANITE), MLX, {"rope_theta": 1e4}),
    "a base that is written elsewhere": (
        rotary("llama", plain(), rope_theta=1e4),
        MLX,
        {"rope_theta": 5e5},
    ),
    "scaling": (rotary("llama", LLAMA3), MLX, {"rope_theta": 5e5, "rope_scaling": BESIDE}),
    "a share": (
        rotary("glm4", plain(partial_rotary_factor=0.5), **GLM),
        MLX,
        {"rope_theta": 5e5, "partial_rotary_factor": 0.5},
    ),
    "kinds of layers": (rotary("gemma3_text", KINDS), MLX, {"rope_theta": 5e5, "rope_local_base_freq": 4e3}),
    "version 4": (rotary("llama", LLAMA3), "transformers@4.57", {"rope_theta": 5e5, "rope_scaling": BESIDE}),
    "read as they are": (rotary("qwen3", plain()), MLX, {}),
    "no loader that needs them": (rotary("llama", plain()), "vllm", {}),
    "scaling that the class does not read": (rotary("gemma", LINEAR), MLX, {}),
    "another reason to refuse it": (rotary("qwen3_moe", plain()), MLX, {}),
    "settings for each kind of layers that a class does not have": (rotary("llama", KINDS), MLX, {}),
}


@pytest.mark.parametrize(("config", "name", "written"), WRITTEN.values(), ids=WRITTEN)
def test_keys_that_a_loader_looks_for(config: Json, name: str, written: Json, tmp_path: Path) -> None:
    asked = loader(name)
    plan = planned(of(config).write(tmp_path / "m"), loader=asked)
    after = plan.after.values
    assert {key: value for key, value in after.items() if config.get(key) != value} == written
    assert len(plan.steps) == bool(written)
    if written:
        assert plan.before.readings[asked].outcome in ("refuses", "differs") or "HF113" in plan.before.codes
        assert plan.after.readings[asked].outcome == "whole"
        assert plan.after.report.verdict in ("verified", "explained")
        for other, reading in plan.before.readings.items():
            assert plan.after.readings[other].outcome in (reading.outcome, "whole")


def test_nothing_is_written_for_a_loader_unasked(tmp_path: Path) -> None:
    assert not planned(of(rotary("llama", LLAMA3)).write(tmp_path / "m")).steps


def test_the_command_writes_and_takes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = of(rotary("llama", LLAMA3)).write(tmp_path / "m")
    before = (folder / "config.json").read_bytes()
    codes = [
        find("fix").main([str(folder), *more], standalone_mode=False)
        for more in (["--for", MLX], ["--for", MLX, "--write"], ["--for", MLX], ["--undo"])
    ]
    assert codes == [1, 0, 0, 0]
    assert "rope_scaling" in capsys.readouterr().out
    assert (folder / "config.json").read_bytes() == before
