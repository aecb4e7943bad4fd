"""Weights that were packed by other settings than the config has: the setting is named, and `hfcount fix` sets it."""

from pathlib import Path
from typing import Any

import pytest
from build import Json, config
from damaged import fix
from defects import FIRST, Checkpoint, Tensors

import hfcount
from hfcount.blueprints.build import blueprint
from hfcount.mapper.quantization_config import announcements
from hfcount.quantization.packing.expected import expected
from hfcount.quantization.schemes import read

MODEL = config("llama", hidden_size=64, intermediate_size=160, num_key_value_heads=4, dtype="float16")
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm"}
FP8 = {"quant_method": "fp8", "weight_block_size": [32, 32], "activation_scheme": "dynamic"}


def compressed(**weights: Any) -> Json:
    group = {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "symmetric": True} | weights}
    own = {"format": "pack-quantized", "ignore": ["lm_head"], "config_groups": {"group_0": group}}
    return {"quant_method": "compressed-tensors", "quantization_status": "compressed"} | own


def stored(settings: Json) -> Tensors:
    """All tensors as the tools of a scheme store them."""
    scheme = read(announcements({"quantization_config": settings})[0], MODEL["dtype"])
    leaves = expected([one for one in blueprint(MODEL).leaves if one.presence == "required"], scheme).tensors
    return {
        name: ((one.dtypes or ("F16",))[0], tuple(map(int, one.shape)))
        for one in leaves
        for name in one.names()
        if not name.endswith(".bias")
    }


def written(folder: Path, settings: Json, tensors: Tensors) -> Path:
    return Checkpoint(MODEL | {"quantization_config": settings}, {FIRST: tensors}).write(folder / "model")


GROUPS = "config_groups.group_0.weights"

WRONG = {
    "groups": (GPTQ | {"group_size": 128}, GPTQ, "group_size is 128, but 32 would fit", "group_size to 32"),
    "bits": (GPTQ | {"bits": 8}, GPTQ, "bits is 8, but 4 would fit", "bits to 4"),
    "groups of AWQ": (AWQ | {"group_size": 64}, AWQ, "group_size is 64, but 32 would fit", "group_size to 32"),
    "blocks": (
        FP8 | {"weight_block_size": [128, 128]},
        FP8,
        "weight_block_size is [128, 128], but [32, 32] would fit",
        "weight_block_size to [32, 32]",
    ),
    "groups of one of several schemes": (
        compressed(strategy="group", group_size=64),
        compressed(strategy="group", group_size=32),
        f"{GROUPS}.group_size is 64, but 32 would fit",
        f"{GROUPS}.group_size to 32",
    ),
    "bits and groups": (
        GPTQ | {"bits": 8, "group_size": 128},
        GPTQ,
        "bits is 8, but 4 would fit and quantization_config.group_size is 128, but 32 would fit",
        "bits to 4 and quantization_config.group_size to 32",
    ),
}


@pytest.mark.parametrize(("says", "packed", "cause", "do"), WRONG.values(), ids=WRONG)
def test_a_setting(says: Json, packed: Json, cause: str, do: str, tmp_path: Path) -> None:
    folder = written(tmp_path, says, stored(packed))
    (finding,) = hfcount.verify(str(folder)).findings
    assert f"quantization_config.{cause}." in finding.message
    assert finding.fix == f"Set quantization_config.{do}."
    assert fix(folder, "--write") == 1  # half of the scales or rows may be lost as well
    assert fix(folder, "--write", "--only", finding.code) == 0
    assert hfcount.verify(str(folder)).verdict == "verified"


def test_another_method_is_named_and_not_set(tmp_path: Path) -> None:
    """Which has further settings of its own."""
    folder = written(tmp_path, GPTQ, stored(AWQ))
    (finding,) = hfcount.verify(str(folder)).findings
    assert finding.fix == "Set quantization_config.quant_method to awq."
    assert fix(folder, "--write") == 1


def test_scales_that_are_lost_may_not_have_been_meant(tmp_path: Path) -> None:
    folder = written(tmp_path, FP8 | {"activation_scheme": "static"}, stored(FP8))
    (finding,) = hfcount.verify(str(folder)).findings
    assert finding.fix == "Add what is missing, or set quantization_config.activation_scheme to dynamic."
    assert fix(folder, "--write") == 1


def test_scales_the_other_way_round(tmp_path: Path) -> None:
    turned = {
        name: (dtype, shape[::-1]) if "scale" in name else (dtype, shape)
        for name, (dtype, shape) in stored(FP8).items()
    }
    (finding,) = hfcount.verify(str(written(tmp_path, FP8, turned))).findings
    assert (finding.code, finding.fix) == ("HF301", "Transpose them.")


def test_what_no_setting_explains_is_left_alone(tmp_path: Path) -> None:
    lost = {name: one for name, one in stored(GPTQ).items() if "layers.1.mlp.up_proj.qzeros" not in name}
    (finding,) = hfcount.verify(str(written(tmp_path, GPTQ, lost))).findings
    assert finding.code == "HF503" and "would fit" not in finding.message


def test_weights_of_another_scheme_are_not_called_dense(tmp_path: Path) -> None:
    """Of which one alone is known."""
    codes = {one.code for one in hfcount.verify(str(written(tmp_path, FP8, stored(GPTQ)))).findings}
    assert "HF504" not in codes
