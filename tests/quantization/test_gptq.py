"""GPTQ and AutoRound: when the index of the groups has to be there, and matrices whose sizes are no multiples of 32."""

from pathlib import Path
from typing import Any

import pytest
from packed import PACKED, Json, Tensors, unfolded, write

import hfcount

# What AutoRound 0.16 stores for GPTQModel: 4 bits in groups of 16, an index each, and the MLP of 144 rows dense.
CASE = PACKED["AutoRound for GPTQModel"]
GPTQ: Json = {"quant_method": "gptq", "bits": 4, "group_size": 16, "sym": True, "dynamic": {r"-:.*\.mlp\.": {}}}
GPTQMODEL = {"meta": {"quantizer": ["gptqmodel:7.7.0"], "uri": "https://github.com/modelcloud/gptqmodel"}}
AUTOROUND: Json = CASE["config"]["quantization_config"]


def verdict(folder: Path, settings: Json, tensors: Tensors) -> tuple[str, set[str]]:
    """The verdict, and the codes of errors and of notes on packing."""
    case = {"config": {**CASE["config"], "quantization_config": settings}, "beside": {}}
    report = hfcount.verify(write(folder / "one", case, tensors))
    return report.verdict, {one.code for one in report.findings if one.severity == "error" or one.code > "HF5"}


def without(end: str, name: str = "") -> Tensors:
    found = unfolded(CASE["tensors"])
    return {one: what for one, what in found.items() if not (one.endswith(end) and name in one)}


@pytest.mark.parametrize(
    ("settings", "lost", "codes"),
    [
        # A permutation is in the index alone.
        ({**GPTQ, "desc_act": True}, "", {"HF503"}),
        ({**GPTQ, "desc_act": True}, "layers.1.self_attn.q_proj", {"HF503"}),
        ({**GPTQ, "desc_act": True, "group_size": -1}, "layers.1.self_attn.q_proj", {"HF301", "HF503"}),
        # Without one it can be computed: it is there everywhere, or nowhere.
        ({**GPTQ, "desc_act": False}, "", set[str]()),
        (GPTQ, "", set[str]()),
        ({**GPTQ, "desc_act": False}, "layers.1.self_attn.q_proj", {"HF503"}),
        ({**GPTQ, "desc_act": False}, "self_attn.q_proj", {"HF503"}),
        # Tools that always write it.
        ({**GPTQ, "desc_act": False, **GPTQMODEL}, "", {"HF503"}),
        ({**GPTQ, "meta": {"quantizer": "optimum:1.27.0"}}, "", {"HF503"}),
        # AutoRound wrote it at times.
        ({**GPTQ, "desc_act": False, "provider": "auto-round", "autoround_version": "0.9.7"}, "", set[str]()),
        (AUTOROUND, "", set[str]()),
        (AUTOROUND, "layers.1.self_attn.q_proj", {"HF503"}),
        ({**AUTOROUND, "packing_format": "auto_round:auto_gptq"}, "", set[str]()),
    ],
)
def test_an_index_is_missed_where_loaders_need_it(tmp_path: Path, settings: Json, lost: str, codes: set[str]) -> None:
    tensors = without(".g_idx", lost)
    assert verdict(tmp_path, settings, tensors) == ("mismatch" if codes else "verified", codes)


def test_an_index_that_need_not_be_there_may_be(tmp_path: Path) -> None:
    settings = {**AUTOROUND, "packing_format": "auto_round:auto_gptq"}
    assert verdict(tmp_path, settings, unfolded(CASE["tensors"])) == ("verified", set())


def odd(words: int | None) -> Tensors:
    """Four heads of 48 that share one key: `words` of zero points for its 48 outputs, or both matrices dense."""
    found = {name: what for name, what in unfolded(CASE["tensors"]).items() if "self_attn" not in name}
    for layer in range(2):
        for kind, outputs, inputs in (("q", 192, 64), ("k", 48, 64), ("v", 48, 64), ("o", 64, 192)):
            module = f"model.layers.{layer}.self_attn.{kind}_proj"
            zeros = outputs // 8 if outputs % 32 == 0 else words
            found[f"{module}.bias"] = [outputs], "F16"
            if zeros is None:
                found[f"{module}.weight"] = [outputs, inputs], "BF16"
                continue
            found |= {
                f"{module}.qweight": ([inputs // 8, outputs], "I32"),
                f"{module}.qzeros": ([inputs // 16, zeros], "I32"),
                f"{module}.scales": ([inputs // 16, outputs], "F16"),
                f"{module}.g_idx": ([inputs], "I32"),
            }
    return found


@pytest.mark.parametrize(
    ("writer", "words", "expected"),
    [
        # 48 outputs of 4 bits: six words, of which AutoGPTQ and AutoRound keep four.
        (GPTQMODEL, 6, "verified"),
        (GPTQMODEL, 4, "mismatch"),
        (GPTQMODEL, None, "mismatch"),
        ({"provider": "auto-round"}, 6, "mismatch"),
        ({"provider": "auto-round"}, 4, "verified"),
        ({"provider": "auto-round"}, None, "explained"),
        ({}, 6, "verified"),
        ({}, 4, "explained"),
        ({}, None, "explained"),
        ({}, 5, "mismatch"),
    ],
)
def test_outputs_that_fill_no_block(tmp_path: Path, writer: Json, words: int | None, expected: str) -> None:
    shape = {"num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 48, "quantization_config": GPTQ | writer}
    case: dict[str, Any] = {"config": {**CASE["config"], **shape}, "beside": {}}
    report = hfcount.verify(write(tmp_path / "one", case, odd(words)))
    notes = [one for one in report.findings if one.severity == "note" and one.code == "HF502"]
    assert (report.verdict, len(notes)) == (expected, int(expected == "explained"))
    assert all("no multiples of 32" in one.message for one in notes)
