"""Cards: what the pull request of a conversion shows, as YAML and Markdown."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from conftest import Command
from pipeline_repos import pipeline
from test_diff_values import EMBED, UP, WIDE, changed, saved, weights, with_one

import hfcount
from hfcount.report.renderers import card


def _card(command: Command, *words: object) -> dict[str, Any]:
    code, out, err = command(*words, "--card", "-")
    assert code in (0, 1), err
    made = yaml.safe_load(out)
    assert isinstance(made, dict)
    return made


def _bf16(array: np.ndarray) -> np.ndarray:
    return (array.view(np.uint32) + 0x7FFF + (array.view(np.uint32) >> 16 & 1) & 0xFFFF0000).view(np.float32)


def test_a_cast_has_its_largest_and_mean_error(command: Command, tmp_path: Path) -> None:
    arrays = weights(WIDE)
    a, b = saved(tmp_path / "a", WIDE, arrays, "F32"), saved(tmp_path / "b", WIDE, arrays, "BF16")
    made = _card(command, "diff", a, b, "--depth", "data", "--expect", "cast")
    gaps = np.concatenate([np.abs(_bf16(one) - one).reshape(-1).astype(np.float64) for one in arrays.values()])
    assert made["rounding"]["largest_error"] == pytest.approx(gaps.max(), rel=1e-5)
    assert made["rounding"]["mean_error"] == pytest.approx(gaps.mean(), rel=1e-5)
    assert made["values"] == {
        "compared": len(arrays),
        "identical": 0,
        "rounded": len(arrays),
        "other": 0,
        "not_compared": 0,
        "elements": gaps.size,
        "elements_differing": int((gaps > 0).sum()),
        "new_nan_or_infinite": 0,
    }
    assert (made["result"]["holds"], made["result"]["exit_code"], made["mismatches"]) == (True, 0, [])
    assert (made["a"]["bytes"], made["b"]["bytes"]) == (4 * gaps.size, 2 * gaps.size)
    assert (made["card"], made["hfcount"]) == (1, hfcount.__version__)
    assert made["command"].startswith("hfcount ")


def test_mismatches_are_listed(command: Command, tmp_path: Path) -> None:
    arrays = weights(WIDE)
    a = saved(tmp_path / "a", WIDE, arrays)
    b = saved(tmp_path / "b", WIDE, changed(arrays, 0.1, "layers.1.mlp.up_proj"))
    made = _card(command, "diff", a, b, "--depth", "data")
    (row,) = made["mismatches"]
    assert (row["tensors"], row["count"], row["what"]) == ("model.layers.1.mlp.up_proj.weight", 1, "other values")
    assert made["values"]["other"] == 1 and made["result"]["exit_code"] == 1


def test_a_card_of_a_checkpoint(command: Command, tmp_path: Path) -> None:
    a = saved(tmp_path / "a", WIDE, weights(WIDE))
    made = _card(command, a)
    assert (made["verdict"], made["mismatches"], made["findings"]) == ("verified", 0, [])
    assert made["parameters"] == hfcount.verify(a).parameters.total  # type: ignore[union-attr]  # it is verified
    code, out, _ = command(a, "--card", tmp_path / "card.md")
    assert code == 0 and "verified" in out
    assert (tmp_path / "card.md").read_text().startswith("### ")


def test_json_is_as_without_a_card(command: Command, tmp_path: Path) -> None:
    arrays = weights(WIDE)
    a, b = saved(tmp_path / "a", WIDE, arrays), saved(tmp_path / "b", WIDE, changed(arrays))
    plain = command("diff", a, b, "--depth", "data", "--json")
    assert command("diff", a, b, "--depth", "data", "--json", "--card", tmp_path / "card.yaml") == plain
    assert yaml.safe_load((tmp_path / "card.yaml").read_text())["a"]["model"]


def test_nan_that_both_have_is_no_error(command: Command, tmp_path: Path) -> None:
    """Errors are over all elements but those that differ and are not finite on either side."""
    both = with_one(weights(WIDE), UP, float("nan"))
    a = saved(tmp_path / "a", WIDE, both, "F32")
    b = saved(tmp_path / "b", WIDE, with_one(changed(both, 0.1, "input_layernorm"), EMBED, float("inf")), "F32")
    made = _card(command, "diff", a, b, "--depth", "data")
    other = changed(both, 0.1, "input_layernorm")
    gaps = np.concatenate([(one.astype(np.float64) - other[name]).reshape(-1) for name, one in both.items()])
    gaps = np.abs(np.where(np.isnan(gaps), 0, gaps))
    elements = gaps.size - 1  # the infinite one is left out
    assert made["rounding"] == {
        "largest_error": pytest.approx(gaps.max(), rel=1e-5),
        "mean_error": pytest.approx(gaps.sum() / elements, rel=1e-5),
        "rms_error": pytest.approx(np.sqrt((gaps**2).sum() / elements), rel=1e-5),
    }


def test_changed_keys_of_any_value_are_there(command: Command, tmp_path: Path) -> None:
    former = {"eos_token_id": 2, "pad_token_id": None, "mine": [{"x": 1}]}
    a = saved(tmp_path / "a", WIDE | former, weights(WIDE))
    b = saved(tmp_path / "b", WIDE | {"eos_token_id": [2, 3], "pad_token_id": 7, "mine": 5}, weights(WIDE))
    assert _card(command, "diff", a, b)["config"] == {
        "eos_token_id": [2, "[2,3]"],
        "pad_token_id": ["null", 7],
        "mine": ['[{"x":1}]', 5],
    }


def test_a_card_of_a_pipeline_has_the_values_of_its_parts(command: Command, tmp_path: Path) -> None:
    a = pipeline(tmp_path / "a")
    b = shutil.copytree(a, tmp_path / "b")
    for part, file in (("unet", "diffusion_pytorch_model"), ("vae", "diffusion_pytorch_model")):
        weights_file = b / part / f"{file}.safetensors"
        raw = bytearray(weights_file.read_bytes())
        raw[-2] = 1  # one element of the last tensor, in F32, which was 0
        weights_file.write_bytes(raw)
    made = _card(command, "diff", a, b, "--depth", "data")
    assert made["values"]["compared"] - made["values"]["identical"] == 2
    assert made["values"]["elements_differing"] == 2
    assert made["values"]["elements"] == sum(part["parameters"] for part in _parts(a, b))
    assert made["rounding"]["largest_error"] > 0


def _parts(a: Path, b: Path) -> list[dict[str, Any]]:
    parts = json.loads(hfcount.diff(a, b).to_json())["parts"]
    return [part["a"] for part in parts.values()]


@pytest.mark.parametrize("file", ["card.txt", "no/card.yaml", "card"])
def test_other_files_are_refused(file: str, command: Command, tmp_path: Path) -> None:
    a = saved(tmp_path / "a", WIDE, weights(WIDE))
    assert command("diff", a, a, "--card", tmp_path / file)[0] == 2
    assert command(a, "--json", "--card", "-")[0] == 2


@pytest.mark.parametrize(
    "value",
    ["yes", "null", "1.0", "1e5", "a: b", "- x", "#x", "é\u2028", "", " x", "'", "a\nb", "~", "0x1", "./a", "org/name"],
)
def test_texts_stay_texts(value: str) -> None:
    made = yaml.safe_load(card.yaml({"text": value, "list": [value, {"text": value, "none": None}]}))
    assert isinstance(made["text"], str)
    if value.isprintable():
        assert made == {"text": value, "list": [value, {"text": value}]}


@pytest.mark.parametrize("value", [0, -3, 10**20, 0.5, 1e-9, 1e300, True, float("inf")])
def test_numbers_stay_numbers(value: float) -> None:
    made = yaml.safe_load(card.yaml({"number": value}))["number"]
    assert type(made) is type(value) and made == value
