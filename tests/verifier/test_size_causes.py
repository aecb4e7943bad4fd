"""What the size of a file or a sum of sizes says at depth index: another dtype, a cut, or headers counted in."""

import json
from pathlib import Path
from typing import Any

import pytest
from defects import FIRST, THIRD, data_of, large, pickled

import hfcount


def judged(model: str, **options: Any) -> tuple[str, list[tuple[str, str]], str]:
    report = hfcount.verify(model, **options)
    said = " ".join(one.message for one in report.findings)
    return report.verdict, [(one.code, one.severity) for one in report.findings], said


DATA = data_of(large())

SIZES = {
    "whole": (DATA + 900, "unverified", []),
    "twice": (2 * DATA + 900, "unverified", []),
    "half": (DATA // 2 + 900, "unverified", [("HF004", "note")]),
    "a quarter": (DATA // 4 + 900, "unverified", [("HF004", "note")]),
    "cut by some": (DATA - 5_000, "unverified", [("HF004", "note")]),
    "less than half": (DATA // 2 - 1, "unverified", [("HF004", "note")]),
    "two thirds": (DATA * 2 // 3, "unverified", [("HF004", "note")]),
    "nothing": (0, "mismatch", [("HF004", "error")]),
}


@pytest.mark.parametrize(("size", "verdict", "found"), SIZES.values(), ids=list(SIZES))
def test_half_the_data_is_another_dtype(tmp_path: Path, size: int, verdict: str, found: Any) -> None:
    *was, said = judged(str(pickled(size).write(tmp_path / "m")), depth="index")
    assert was == [verdict, found], said
    note = ("HF004", "note") in found
    assert ("another dtype" in said) == note
    assert ("Upload or download it again." in said) == (bool(found) and not note)


def test_a_shard_in_another_dtype_is_opened(tmp_path: Path) -> None:
    """Of safetensors the headers tell; the index alone does not."""
    checkpoint = large()
    checkpoint.metadata["total_size"] = 2 * checkpoint.data
    for name in (FIRST, THIRD):
        checkpoint.shards[name] = {one: ("F32", shape) for one, (_, shape) in checkpoint.shards[name].items()}
    checkpoint.config["dtype"] = checkpoint.config["torch_dtype"] = "float32"
    model = str(checkpoint.write(tmp_path / "m"))
    verdict, found, said = judged(model, depth="index")
    assert (verdict, found) == ("unverified", [("HF004", "note")]), said
    verdict, found, said = judged(model)
    assert "HF004" not in dict(found), said
    assert "HF302" in dict(found), said


@pytest.mark.parametrize("depth", ["index", "headers"])
@pytest.mark.parametrize("more", [0, 1, -1])
def test_a_sum_of_files_is_said_where_it_is_exactly_that(tmp_path: Path, depth: Any, more: int) -> None:
    folder = large().write(tmp_path / "m")
    index = folder / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    content["metadata"]["total_size"] = sum(one.stat().st_size for one in folder.glob("*.safetensors")) + more
    index.write_text(json.dumps(content))
    verdict, found, said = judged(str(folder), depth=depth)
    assert (verdict, found) == ("mismatch", [("HF401", "error")]), said
    assert ("the sum of the file sizes, headers included" in said) == (more == 0), said


def test_a_sum_of_pickled_files_is_called_so(tmp_path: Path) -> None:
    checkpoint = large()
    total = sum(data_of(checkpoint, file) + 900 for file in checkpoint.shards)
    verdict, _, said = judged(str(pickled(DATA + 900, total_size=total).write(tmp_path / "m")), depth="index")
    assert (verdict, "the sum of the file sizes, headers included" in said) == ("unverified", True)
