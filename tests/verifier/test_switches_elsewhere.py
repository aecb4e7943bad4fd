"""What other loaders make of the cases of test_engine_switches.py, whose switches one obeys and another ignores."""

from pathlib import Path
from typing import Any

import pytest
from engine_cases import PARTS, halves, tensors
from test_engine_switches import ROWS, llama

import hfcount

LOADERS = ("transformers@5.24.0", "transformers@4.57.1", "mlx-lm@0.32.2", "llama.cpp@0.5.0")
SHORT = {"w": "whole", "d": "differs", "r": "refuses", "u": "unknown"}

# By case, the outcomes in the order of LOADERS by their first letters; `-` where nothing is asked.
ELSEWHERE = {
    "1: a value head": "ddrr",
    "1: none": "wwww",
    "2: a projection": "ddrr",
    "2: a norm": "ddrr",
    "3: the key is absent": "wwrw",
    "3: the key is 0": "ddrr",
    "3: the key says so": "ww-w",
    "4: announced and absent": "ww-w",
    "5: a dense model without it": "wwww",
    "6: a single file beside the index": "wwww",
    "7: shards in a folder": "wwrw",
    "7: shards in the root": "wwww",
    "8: an adapter beside the model": "wwww",
    "8: a backup that is read last": "wwww",
    "8: another name of the file": "rrrr",
    "9: a consolidated file of other names": "wwww",
    "9: a consolidated file in a folder": "wwww",
    "10: params.json beside": "wwww",
    "11: a head outside the index": "wwww",
    "12: mtp.safetensors outside the index": "wwww",
    "13: the index lacks a name": "wdwr",
    "13: the index is right": "wwww",
    "14: a copy of the embedding under a tie": "wwww",
    "14: no head under a tie": "wwww",
    "15: the key is absent": "wwdw",
    "15: the key is there": "wwww",
    "16: no tie, and no head": "ddr-",
    "17: a head in place of the embedding": "wwrr",
    "18: only quantize_config.json": "ddrr",
    "19: only hf_quant_config.json": "ddrw",
    "20: both, which differ": "rrr-",
    "21: ModelSlim's file": "wwww",
    "22: in text_config alone": "wd--",
    "23: compression_config": "ddrr",
    "24: quantization_status compressed": "wwrr",  # mlx-lm: mlx_lm/utils.py:325, the format float-quantized
    "25: desc_act with groups": "wwrw",
    "26: 3 bits": "--rr",
    "27: bitsandbytes": "--rr",
    "28: AWQ": "wwwr",
    "30: names without a prefix": "ddr-",
    "31: a dense head": "wwrw",  # mlx-lm: mlx_lm/utils.py:569, no fp8 for llama
    "33: scales beside projections": "wwrr",
    "34: actorder group": "wwrr",  # mlx-lm: mlx_lm/utils.py:325
    "34: actorder static": "wwrr",
    "35: sparsity": "--r-",
    "36: other rows": "rrrr",
    "36: the rows of the config": "wwww",
    "37: no tokenizer": "wwww",
    "37: further tokens": "wwww",
    "38: gates that share a block": "wwrw",
    "39: n_routed_experts": "wwrw",
    "39: no experts": "wwww",
    "40: type beside another rope_type": "wwdw",  # transformers 4.57.1: models/llama/configuration_llama.py:212
    "40: type alone": "wwww",
    "41: registered": "wwww",
    "42: biases that no module has": "ddr-",
    "43: gemma in float16": "wwww",
    "48: a name that says nothing": "wwww",
    "48: another name": "wwww",
    "49: weights.safetensors": "rrrr",
    "50: MLX": "ddwr",
    "50: no quant_method": "rrrr",
    "51: an unknown method": "ddrr",
    "52: all packed": "wwrw",  # mlx-lm: mlx_lm/utils.py:121, g_idx
    "53: W4A16_NVFP4": "ddrw",  # transformers reads no hf_quant_config.json: quantizers/auto.py; mlx_lm/utils.py:560
    "53: NVFP4": "ddrw",
    "54: the second is another's": "wwww",
}
CASES = {f"{one.switch}: {one.name}": one for one in ROWS}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", ELSEWHERE)
def test_switch_elsewhere(case: str, tmp_path: Path) -> None:
    folder = CASES[case].made().write(tmp_path / "model")
    asked = [label for label, letter in zip(LOADERS, ELSEWHERE[case], strict=True) if letter != "-"]
    report = hfcount.verify(folder, loaders=asked)
    outcomes = {f"{one.loader}@{one.version}": one.outcome for one in report.loaders}
    wanted = [SHORT[letter] for letter in ELSEWHERE[case] if letter != "-"]
    assert [outcomes[label] for label in asked] == wanted


@pytest.mark.parametrize("case", ["13: the index lacks a name", "8: a backup that is read last"])
def test_what_transformers_takes_from_files_is_no_error_for_it(case: str, tmp_path: Path) -> None:
    folder = CASES[case].made().write(tmp_path / "model")
    assert hfcount.verify(folder, loaders=["transformers"]).ok


@pytest.mark.parametrize(
    ("depth", "byte", "outcomes"),
    [
        ("headers", 0, {"mlx-lm": "whole", "sglang": "whole", "transformers": "whole"}),
        ("headers", 1, {"mlx-lm": "differs", "sglang": "differs", "transformers": "differs"}),
        ("index", 0, {"mlx-lm": "unknown", "sglang": "unknown", "transformers": "unknown"}),
    ],
)
def test_a_head_under_a_tie_is_dropped(depth: Any, byte: int, outcomes: dict[str, str], tmp_path: Path) -> None:
    """It is no loss where it was compared with the embedding, and is a copy."""
    values = llama(tie_word_embeddings=True)
    folder = halves(values, tensors(values | {"tie_word_embeddings": False})).write(tmp_path / "model")
    last = folder / PARTS[1]
    content = bytearray(last.read_bytes())
    content[-1] = byte  # lm_head.weight is the last
    last.write_bytes(content)
    readers = hfcount.verify(folder, depth=depth, loaders=["mlx-lm", "sglang", "transformers@4.57.1"]).loaders
    older = {one.loader: one.outcome for one in readers if one.loader != "transformers" or one.version == "4.57.1"}
    assert {name: older[name] for name in outcomes} == outcomes


def test_both_names_of_the_kind_of_positions_are_told(tmp_path: Path) -> None:
    """transformers 4.57.1: models/llama/configuration_llama.py:212; 5.24.0: modeling_rope_utils.py."""
    report = hfcount.verify(CASES["40: type beside another rope_type"].made().write(tmp_path / "model"))
    (message,) = [one.message for one in report.findings if one.code == "HF113"]
    assert "uses dynamic for rope_scaling.rope_type" in message
    assert "reads only rope_scaling.type, uses linear" in message
