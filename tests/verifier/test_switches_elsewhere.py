"""What other loaders make of the cases of test_engine_switches.py, whose switches one obeys and another ignores."""

from pathlib import Path

import pytest
from test_engine_switches import ROWS

import hfcount

LOADERS = ("transformers@5.24.0", "transformers@4.57.1", "mlx-lm@0.32.2", "llama.cpp@0.5.0")
SHORT = {"w": "whole", "d": "differs", "r": "refuses", "u": "unknown"}

# By case, the outcomes in the order of LOADERS by their first letters; `-` where nothing is asked.
ELSEWHERE = {
    "1: a value head": "ddrr",
    "1: none": "wwww",
    "2: a projection": "ddrr",
    "2: a norm": "ddrr",
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
    "25: desc_act with groups": "wwrw",
    "26: 3 bits": "--rr",
    "27: bitsandbytes": "--rr",
    "28: AWQ": "wwwr",
    "30: names without a prefix": "ddr-",
    "33: scales beside projections": "wwrr",
    "35: sparsity": "--r-",
    "36: other rows": "rrrr",
    "36: the rows of the config": "wwww",
    "38: gates that share a block": "wwrw",
    "40: type beside another rope_type": "w-dw",
    "40: type alone": "wwww",
    "42: biases that no module has": "ddr-",
    "43: gemma in float16": "wwww",
    "49: weights.safetensors": "rrrr",
    "50: MLX": "ddwr",
    "50: no quant_method": "rrrr",
    "51: an unknown method": "ddrr",
    "54: the second is another's": "wwww",
}
CASES = {f"{one.switch}: {one.name}": one for one in ROWS}


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
