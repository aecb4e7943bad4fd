"""A scheme of quantised weights is a file and a row, and nothing else knows it."""

from importlib import import_module
from pathlib import Path

import pytest
from test_packed_rules import LLAMA, stored, told, without

from hfcount.quantization import schemes
from hfcount.quantization.schemes import METHODS, Method

FILE = '''
"""Thirds: three weights a byte, with a scale a row (made up for this test)."""

from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, ceil_div
from hfcount.quantization.matcher import Matcher
from hfcount.quantization.scheme import ExclusionScheme, Scheme
from hfcount.quantization.settings import Settings, texts


@dataclass(frozen=True, slots=True)
class Thirds(Layout):
    label = "thirds"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        thirds = PackedTensor(".thirds", (outputs, ceil_div(inputs, 3)), ("U8",))
        return [thirds, PackedTensor(".row_scale", (outputs,), ("F16",))]


def read(settings: Settings) -> Scheme:
    return ExclusionScheme("thirds", Thirds(), Matcher(texts(settings, "dense") or ("lm_head",), "transformers"))
'''


def test_every_row_has_its_file_and_every_file_its_row() -> None:
    for method in METHODS.values():
        assert callable(getattr(import_module(f"{schemes.__name__}.{method.module}"), method.reader))
    files = {path.stem for path in Path(schemes.__path__[0]).glob("*.py")} - {"__init__"}
    assert files - {method.module for method in METHODS.values()} == {"sparse"}  # within compressed-tensors


def test_a_scheme_is_a_file_and_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"quant_method": "thirds", "dense": ["lm_head", "model.layers.1.self_attn.q_proj"]}
    config = LLAMA | {"quantization_config": settings}
    (tmp_path / "thirds.py").write_text(FILE)
    monkeypatch.setattr(schemes, "__path__", [*schemes.__path__, str(tmp_path)])
    monkeypatch.setitem(METHODS, "thirds", Method("thirds"))
    tensors = stored(LLAMA, settings)
    assert tensors["model.layers.0.mlp.up_proj.thirds"] == ([512, 86], "U8")
    assert tensors["model.layers.1.self_attn.q_proj.weight"] == ([256, 256], "BF16")
    assert told(tmp_path / "whole", config, tensors) == ("verified", [])
    lost = without(tensors, "layers.2.mlp.up_proj.row_scale")
    assert told(tmp_path / "lost", config, lost) == ("mismatch", ["HF503"])
