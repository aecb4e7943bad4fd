"""tests/tools/season.py: what readers register, read from their source, and what of it hfcount does not know."""

from pathlib import Path

import pytest
from season import KINDS, TABLES, LeftOut, entries, left_out, reasons_for_all, report

WRITTEN = {
    "transformers/models/auto/auto_mappings.py": 'CONFIG_MAPPING_NAMES = OrderedDict([("llama", 1), ("no_such", 2)])',
    "transformers/quantizers/auto.py": 'AUTO_QUANTIZATION_CONFIG_MAPPING = {"gptq": GPTQConfig, "no_such": Other}',
    "vllm/model_executor/models/registry.py": '_A_MODELS = {"LlamaForCausalLM": ("llama", 1), "NoSuchForCausalLM": 2}',
    "vllm/model_executor/layers/quantization/__init__.py": 'QuantizationMethods = Literal["awq", "no_such"]',
    "sglang/srt/models/llama.py": "EntryClass = [LlamaForCausalLM, NoSuchForCausalLM]",
    "sglang/srt/models/qwen3.py": "class Inner: ...\nEntryClass = Qwen3ForCausalLM",
    "sglang/srt/layers/quantization/__init__.py": 'BASE_QUANTIZATION_METHODS: Dict = {"fp8": A, "no_such": B}',
    "mlx_lm/models/llama.py": "class Model: ...",
    "mlx_lm/models/no_such.py": "class Model: ...",
    "mlx_lm/models/base.py": "class Other: ...",
    "deep/llama.cpp/conversion/llama.py": '@ModelBase.register("LlamaForCausalLM", "NoSuchForCausalLM")\nclass A: ...',
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name, text in WRITTEN.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_every_table_is_read_in_the_form_that_its_reader_writes(sources: Path) -> None:
    found = {(table.reader, table.kind): entries(table, sources) for table in TABLES}
    some = {"LlamaForCausalLM", "NoSuchForCausalLM"}
    assert found == {
        ("transformers", "model types"): {"llama", "no_such"},
        ("transformers", "quantisation methods"): {"gptq", "no_such"},
        ("vLLM", "classes"): some,
        ("vLLM", "quantisation methods"): {"awq", "no_such"},
        ("SGLang", "classes"): some | {"Qwen3ForCausalLM"},
        ("SGLang", "quantisation methods"): {"fp8", "no_such"},
        ("mlx-lm", "model types"): {"llama", "no_such"},
        ("llama.cpp", "classes"): some,
    }


def test_what_hfcount_does_not_know_is_listed(sources: Path) -> None:
    lines = report(sources).splitlines()[2:]
    assert len(lines) == len(TABLES)
    assert lines[2] == "- vLLM: 1 of 2 classes unknown: `NoSuchForCausalLM`."
    assert all("no_such`" in line or "NoSuchForCausalLM`" in line for line in lines)


def test_a_reader_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert report(tmp_path).splitlines()[2].startswith("- transformers: no model types found in transformers/models/")


@pytest.mark.parametrize("name", ["Grok4ForCausalLM", "", "../x", "Llama For"])
def test_an_odd_name_is_unknown(name: str) -> None:
    assert not any(known(name) for known in KINDS.values())


def test_what_is_left_out_has_its_reason(sources: Path) -> None:
    registry = sources / "vllm/model_executor/models/registry.py"
    registry.write_text('_A_MODELS = {"LlamaForCausalLM": 1, "NoSuchForCausalLM": 2, "TransformersForCausalLM": 3}')
    line = report(sources).splitlines()[4]
    assert line == "- vLLM: 1 of 3 classes unknown: `NoSuchForCausalLM`; 1 left out (1 generic)."
    row = left_out("vLLM", "TransformersForCausalLM")
    assert row
    assert f"| {row.reason} |" in report(sources, asked_for_reasons=True)
    assert all(row.kind and row.reason for row in reasons_for_all())


PLAIN = [row for row in reasons_for_all() if row.names.isidentifier()]
"""Those without a pattern: which names a pattern stands for, the readers' sources alone say."""


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: row.names)
def test_nothing_is_left_out_that_is_known(row: LeftOut) -> None:
    assert not any(known(row.names) for known in KINDS.values())
