"""RepVGG's blocks, as their stages give them and as a config spells them out."""

import json
from typing import Any

import pytest
from paths import ARCHITECTURES

import hfcount
from hfcount.errors import ConfigError

FILE = ARCHITECTURES / "efficientloftr.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text())["config"]
SPELLED = ("stage_block_stride", "stage_block_in_channels", "stage_block_out_channels")


def plain(**changes: Any) -> dict[str, Any]:
    """EfficientLoFTR without what is spelled out."""
    return {key: value for key, value in RECORDED.items() if key not in SPELLED} | changes


def shapes(values: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {tensor.name: tensor.shape for tensor in hfcount.blueprint(values).tensors()}


def test_blocks_are_the_same_spelled_out_and_not() -> None:
    assert shapes(plain()) == shapes(RECORDED)


def test_a_block_spelled_out_overrides_its_stage() -> None:
    spelled = {"stage_block_in_channels": [[1], [24, 20], [24, 40, 40], [40, *[144] * 4]]}
    start = "efficientloftr.backbone.stages.1.blocks"
    found = shapes(plain(**spelled))
    assert found[f"{start}.1.conv1.conv.weight"] == (24, 20, 3, 3)
    assert f"{start}.0.identity.weight" in found
    assert f"{start}.1.identity.weight" not in found


def test_a_stage_of_very_many_blocks_costs_nothing() -> None:
    few, many = (hfcount.blueprint(plain(stage_num_blocks=[1, 2, 3, count])) for count in (5, 10**15))
    assert len(few.rows()) == len(many.rows())


@pytest.mark.parametrize(
    "changes",
    [
        {"stage_num_blocks": [1, 2, 3, -5]},
        {"stage_num_blocks": [1, 2, 3]},
        {"out_features": [24, 40, 144]},
        {"hidden_size": 128},
        {"fine_fusion_dims": []},
        {"stage_block_stride": [[2], [1]]},
        {"stage_block_in_channels": [[1], [24, 0], [24, 40, 40], [40, *[144] * 4]]},
        {"stage_block_out_channels": "none"},
    ],
    ids=str,
)
def test_odd_lists_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        hfcount.blueprint(plain(**changes))
