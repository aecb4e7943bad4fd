"""What belongs to a checkpoint and not to the model proper: prediction layers, buffers; and parts not described."""

import json
from pathlib import Path

import pytest
from build import DEEPSEEK

import hfcount
from hfcount.blueprints.blueprint import Blueprint
from hfcount.spec.tree.nodes import Linear, Tensor, Undescribed, block

PLAN = hfcount.blueprint(DEEPSEEK)
STORED = {row.name: row for row in PLAN.tensors(stored=False) if row.kind not in ("legacy", "tied")}
BUFFERS = sum(tensor.shape[0] for tensor in STORED.values() if tensor.kind == "buffer")
MTP_BUFFERS = sum(tensor.shape[0] for tensor in STORED.values() if tensor.kind == "auxiliary buffer")


def verify(folder: Path, names: set[str], total_size: int) -> hfcount.Report:
    index = {"metadata": {"total_size": total_size}, "weight_map": dict.fromkeys(sorted(names), "a.safetensors")}
    (folder / "deepseek").mkdir()
    (folder / "deepseek" / "config.json").write_text(json.dumps(DEEPSEEK))
    (folder / "deepseek" / "model.safetensors.index.json").write_text(json.dumps(index))
    return hfcount.verify("deepseek", fixtures=folder)


def test_the_tiny_model_has_all_three_kinds() -> None:
    assert {tensor.kind for tensor in STORED.values()} == {"parameter", "buffer", "auxiliary", "auxiliary buffer"}
    assert (BUFFERS, MTP_BUFFERS) == (2 * 4, 4)


@pytest.mark.parametrize("width", [2, 4], ids=["like the weights", "F32"])
@pytest.mark.parametrize(("kinds", "code"), [(("parameter", "buffer"), "HF207"), (None, "HF208")])
def test_prediction_layers_are_explained_stored_or_not(
    tmp_path: Path, kinds: tuple[str, ...] | None, code: str, width: int
) -> None:
    chosen = {name for name, tensor in STORED.items() if kinds is None or tensor.kind in kinds}
    weights, buffers = PLAN.total, BUFFERS
    if kinds is None:
        weights, buffers = weights + PLAN.mtp, buffers + MTP_BUFFERS
    report = verify(tmp_path, chosen, 2 * weights + width * buffers)
    assert (report.verdict, [finding.code for finding in report.findings]) == ("explained", [code])
    assert report.parameters is not None
    assert (report.parameters.total, report.auxiliary) == (PLAN.total, {"mtp": PLAN.mtp})
    assert report.findings[0].parameters == PLAN.mtp + MTP_BUFFERS


def test_a_prediction_layer_that_is_cut_is_not_taken_for_a_missing_one(tmp_path: Path) -> None:
    some = {name for name, tensor in STORED.items() if "auxiliary" not in tensor.kind} | {"model.layers.3.enorm.weight"}
    report = verify(tmp_path, some, 2 * (PLAN.total + 16) + 4 * BUFFERS)
    assert [(finding.code, finding.severity) for finding in report.findings] == [("HF201", "error")]
    assert (report.findings[0].expected, report.findings[0].count) == (30, 29)


def test_a_missing_buffer_is_a_missing_tensor(tmp_path: Path) -> None:
    lost = next(name for name, tensor in STORED.items() if tensor.kind == "buffer")
    names = {name for name, tensor in STORED.items() if "auxiliary" not in tensor.kind} - {lost}
    report = verify(tmp_path, names, 2 * PLAN.total + 4 * (BUFFERS - 4))
    assert [finding.code for finding in report.findings if finding.severity == "error"] == ["HF201"]


def test_an_aside_is_named_and_nothing_below_it_is_counted() -> None:
    tree = block(
        visual=Undescribed("its tower is not described"),
        model=block(a=Tensor((2,)), b=block(c=Undescribed("nor this"))),
    )
    blueprint = Blueprint(PLAN.spec, tree)
    assert blueprint.unmodeled == ("visual.", "model.b.c.")
    assert dict(blueprint.reasons) == {"visual": "its tower is not described", "model.b.c": "nor this"}
    assert [tensor.name for tensor in blueprint.tensors()] == ["model.a"]


def test_a_numbered_child_is_found_by_its_number() -> None:
    blueprint = Blueprint(PLAN.spec, block(mlp=block(**{"0": Linear(2, 3), "2": Linear(3, 1)})))
    assert [tensor.name for tensor in blueprint.tensors()] == ["mlp.0.weight", "mlp.2.weight"]
