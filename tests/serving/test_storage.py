"""The report's `storage`: from the settings alone, from names, from headers, and what --quantize adds."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from defects import write

import hfcount
from hfcount.cli.main import main

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "vocab_size": 320,
    "torch_dtype": "bfloat16",
}
# 4 layers of 2·64·64 + 2·32·64 + 3·160·64 are packed; 2·320·64 of tables and (2·4 + 1)·64 of norms are dense.
PACKED, DENSE = 172_032, 41_536
BLOCKS = 4 * (4 + 6)
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}


def written(folder: Path, config: dict[str, Any]) -> str:
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    return str(path)


def test_from_the_settings_alone(tmp_path: Path) -> None:
    report = hfcount.verify(written(tmp_path, LLAMA | {"quantization_config": FP8}), depth="config")
    assert report.storage and report.memory
    assert report.storage.dtypes == {"F8_E4M3": PACKED, "BF16": DENSE, "F32": BLOCKS}
    assert report.storage.bytes == report.memory.weights_bytes == PACKED + 2 * DENSE + 4 * BLOCKS
    assert (report.storage.scheme, report.storage.modules, report.storage.tensors) == ("fp8", 28, 39 + 28)
    assert report.storage.packed_bytes == PACKED + 4 * BLOCKS
    assert report.storage.unpacked_bytes == 2 * (PACKED + DENSE)
    assert report.parameters and report.parameters.total == PACKED + DENSE


def test_scalars_that_the_hub_leaves_out(tmp_path: Path) -> None:
    settings = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}
    report = hfcount.verify(written(tmp_path, LLAMA | {"quantization_config": settings}), depth="config")
    assert report.storage
    assert report.storage.scalars == {"F32": 2 * 28}
    assert report.storage.dtypes == {"U8": PACKED // 2, "BF16": DENSE, "F8_E4M3": PACKED // 16, "F32": 2 * 28}


@pytest.mark.parametrize("depth", ["index", "headers"])
def test_from_what_was_read(tmp_path: Path, depth: Any) -> None:
    report = hfcount.verify(str(write("FP8 in blocks", tmp_path / "one")), depth=depth)
    assert report.storage and report.evidence
    assert report.storage.dtypes == report.evidence.dtypes
    assert (report.storage.modules, report.storage.tensors) == (21, 30 + 21)


def test_none_without_a_quantisation(tmp_path: Path) -> None:
    assert hfcount.verify(written(tmp_path, LLAMA), depth="config").storage is None


@pytest.mark.parametrize(
    ("scheme", "dtypes"),
    [
        ("fp8", {"F8_E4M3": PACKED, "BF16": DENSE, "F32": BLOCKS}),
        ("bnb-int8", {"I8": PACKED, "BF16": DENSE, "F32": 4 * (2 * 64 + 2 * 32 + 2 * 160 + 64), "U8": 28}),
    ],
)
def test_what_it_would_take(tmp_path: Path, scheme: str, dtypes: dict[str, int]) -> None:
    path = written(tmp_path, LLAMA)
    result = CliRunner().invoke(main, [path, "--quantize", scheme, "--format", "json"], standalone_mode=False)
    plain, quantised = map(json.loads, result.output.splitlines())
    assert plain["storage"] is None
    assert quantised["storage"]["dtypes"] == dtypes
    assert quantised["parameters"] == plain["parameters"]


def test_a_scheme_that_there_is_not(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [written(tmp_path, LLAMA), "--quantize", "q4_k_m"])
    assert result.exit_code == 2
    assert "q4_k_m is a GGUF type" in result.output
