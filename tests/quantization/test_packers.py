"""Small checkpoints as the libraries that pack weights store them, recorded in packed.json: good, and spoilt."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from packed import PACKED, Tensors, unfolded, write
from tables import over

import hfcount
from hfcount.checkpoints.inspect import Options, inspect
from hfcount.fetcher import Request


@pytest.mark.parametrize("depth", ["headers", "index"])
@over("name", PACKED)
def test_what_a_library_stores_is_verified(tmp_path: Path, name: str, depth: Any) -> None:
    tensors = unfolded(PACKED[name]["tensors"])
    report = hfcount.verify(write(tmp_path / "one", PACKED[name], tensors), depth=depth)
    assert [finding.message for finding in report.findings if finding.severity == "error"] == []
    notes = PACKED[name].get("notes", [])
    # Older versions have other defaults for rotary positions, which no tensor depends on.
    assert (report.verdict, [finding.code for finding in report.findings if finding.code != "HF113"]) == (
        "explained" if notes else "verified",
        notes,
    )
    assert report.storage and report.storage.tensors == len(tensors)


STACKED = [
    name
    for name, case in PACKED.items()
    if any(".switch_mlp." in one for one, _, _ in case["tensors"])
    and not any(".embed_q." in one for one, _, _ in case["tensors"])  # newer versions alone split latent attention
]


@pytest.mark.parametrize("name", STACKED)
def test_a_config_alone_counts_experts_as_mlx_stacks_them(tmp_path: Path, name: str) -> None:
    tensors = unfolded(PACKED[name]["tensors"])
    report = hfcount.verify(write(tmp_path / "one", PACKED[name], tensors), depth="config")
    assert report.storage and report.storage.tensors == len(tensors)


NUMBERED = {"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}
"""What Mixtral calls the matrices of an expert."""


def scale_of(tensors: Tensors) -> str:
    """A scale somewhere in the middle."""
    ends = (".weight_scale_inv", "weight_scale", ".scales", ".weight.absmax")
    found = [name for name in sorted(tensors) if name.endswith(ends)]
    return found[len(found) // 2]


def lost(tensors: Tensors) -> str:
    name = scale_of(tensors)
    del tensors[name]
    return name


def longer(tensors: Tensors) -> str:
    name = scale_of(tensors)
    shape, dtype = tensors[name]
    tensors[name] = ([shape[0] + 1, *shape[1:]] if shape else [7]), dtype
    return name


SPOILT = [*product(PACKED, (lost, longer))]


@pytest.mark.long
@over(("name", "spoil"), SPOILT, ids=[f"{name}-{spoil.__name__}" for name, spoil in SPOILT], every=3)
def test_a_spoilt_scale_is_named(tmp_path: Path, name: str, spoil: Callable[[Tensors], str]) -> None:
    tensors = unfolded(PACKED[name]["tensors"])
    spoilt = spoil(tensors)
    report = hfcount.verify(write(tmp_path / "one", PACKED[name], tensors))
    said = " ".join(finding.message for finding in report.findings if finding.severity == "error")
    module = spoilt.rpartition(".")[0].removesuffix(".weight").rpartition(".")[2]
    assert report.verdict == "mismatch"
    assert module in said or NUMBERED.get(module, module) in said


def test_one_dense_module_among_packed_ones_is_an_error_though_either_is_taken(tmp_path: Path) -> None:
    case = PACKED["AWQ with a tower"]
    tensors = unfolded(case["tensors"])
    module = "vision_tower.encoder.layers.1.mlp.fc1"
    for name in [name for name in tensors if name.startswith(f"{module}.") and not name.endswith("bias")]:
        del tensors[name]
    tensors[f"{module}.weight"] = [128, 64], "BF16"
    report = hfcount.verify(write(tmp_path / "one", case, tensors))
    assert report.verdict == "mismatch"
    assert [finding.code for finding in report.findings if module in finding.message] == ["HF502"]


def test_settings_of_a_cache_alone_ask_for_no_packed_module(tmp_path: Path) -> None:
    case = PACKED["MLX with packed routers"]
    config = {key: value for key, value in case["config"].items() if "quantization" not in key}
    described = hfcount.blueprint(config).tensors(stored=True)
    tensors: Tensors = {one.name: (list(map(int, one.shape)), "BF16") for one in described}
    for layer in range(2):
        for scale in ("k_scale", "v_scale"):
            tensors[f"model.layers.{layer}.self_attn.{scale}"] = [1], "BF16"
    cache = {"num_bits": 8, "type": "float", "strategy": "tensor"}
    settings = {"quant_method": "compressed-tensors", "format": "dense", "kv_cache_scheme": cache}
    report = hfcount.verify(
        write(tmp_path / "one", {"config": {**config, "quantization_config": settings}, "beside": {}}, tensors)
    )
    assert (report.verdict, [finding.code for finding in report.findings if finding.code > "HF2"]) == ("verified", [])


def test_settings_in_a_file_beside_the_config_are_replayed(tmp_path: Path) -> None:
    case = PACKED["ModelOpt FP8 of stacks"]
    config = {key: value for key, value in case["config"].items() if key != "quantization_config"}
    source = write(tmp_path / "one", {**case, "config": config}, unfolded(case["tensors"]))
    first = inspect(Request(source), Options(save=tmp_path / "saved"))
    again = hfcount.verify("one", fixtures=tmp_path / "saved")
    assert (first.verdict, again.verdict) == ("verified", "verified")
    (tmp_path / "saved/one/hf_quant_config.json").unlink()
    without = hfcount.verify("one", fixtures=tmp_path / "saved")
    assert without.verdict == "mismatch"
    assert [finding.code for finding in without.findings if finding.severity == "error"] == ["HF504"]


@pytest.mark.parametrize(("depth", "verdict"), [("headers", "verified"), ("index", "unverified")])
def test_scales_that_calibration_did_not_reach_keep_their_dtype(tmp_path: Path, depth: Any, verdict: str) -> None:
    case = PACKED["FP8 for servers"]
    tensors = unfolded(case["tensors"])
    for name in tensors:
        if name.endswith("down_proj.input_scale"):
            tensors[name] = [], "F32"
    report = hfcount.verify(write(tmp_path / "one", case, tensors), depth=depth)
    assert (report.verdict, [one.code for one in report.findings if one.severity == "error"]) == (verdict, [])


RENAMED: dict[str, Callable[[str], str]] = {
    "one layer without the prefix": lambda name: name.removeprefix("model.") if ".layers.0." in name else name,
    "no name with the prefix": lambda name: name.removeprefix("model."),
    "the prefix twice": lambda name: f"model.{name}" if name.startswith("model.") else name,
    "the head with the prefix": lambda name: f"model.{name}" if name.startswith("lm_head.") else name,
}


@pytest.mark.parametrize(
    "rename",
    [
        pytest.param(rename, id=name, marks=[pytest.mark.long] * (number % 2))
        for number, (name, rename) in enumerate(RENAMED.items())
    ],
)
@pytest.mark.parametrize(
    ("name", "verdict"),
    [("MLX with packed routers", "mismatch"), ("ModelOpt FP8 of stacks", "mismatch"), ("FP8 for servers", "explained")],
)
def test_only_what_transformers_reads_may_differ_by_a_prefix(
    tmp_path: Path, name: str, verdict: str, rename: Callable[[str], str]
) -> None:
    case, tensors = PACKED[name], unfolded(PACKED[name]["tensors"])
    renamed = {rename(one): value for one, value in tensors.items()}
    report = hfcount.verify(write(tmp_path / "one", case, renamed))
    assert report.verdict == (verdict if renamed != tensors else "verified")
    assert ("HF209" in {finding.code for finding in report.findings}) is (verdict == "explained" and renamed != tensors)
