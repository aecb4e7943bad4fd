"""Dtypes: numbers that a parameter or a buffer may be stored as, and those that it may not."""

import json
from collections.abc import Callable
from functools import cache
from math import prod

import pytest
from build import DEEPSEEK, Json
from paths import ARCHITECTURES

import hfcount
from hfcount.formats.dtypes import BITS
from hfcount.formats.safetensors import Entry, Header, Shard
from hfcount.verifier import verify
from hfcount.verifier.findings import Outcome

SINGLE = "model.safetensors"


@cache
def _described(name: str) -> hfcount.Blueprint:
    path = ARCHITECTURES / f"{name}.json"
    return hfcount.blueprint(json.loads(path.read_text())["config"])


def _look(blueprint: hfcount.Blueprint, dtype: Callable[[str], str]) -> Outcome:
    """What is found where each tensor is stored in the dtype of its name."""
    entries, end = {}, 0
    for one in blueprint.tensors():
        begin, end = end, end + prod(one.shape) * BITS[dtype(one.name)] // 8
        entries[one.name] = Entry(dtype(one.name), tuple(map(int, one.shape)), begin, end)
    header = Header(entries, 8, end, b"{}")
    return verify(blueprint, None, {SINGLE: Shard(SINGLE, header.file_bytes, header)})


def _codes(outcome: Outcome) -> list[str]:
    return [finding.code for finding in outcome.findings]


@pytest.mark.parametrize(
    ("dtype", "codes"),
    [
        ("BF16", []),
        ("F32", ["HF302"]),
        ("F64", ["HF302"]),
        ("F8_E4M3", ["HF304"]),
        ("F8_E5M2FNUZ", ["HF304"]),
        *((dtype, ["HF303"]) for dtype in ("BOOL", "U8", "I8", "I16", "U16", "I32", "I64", "U64", "C64")),
        *((dtype, ["HF303"]) for dtype in ("F4", "F8_E8M0")),
    ],
)
def test_what_a_parameter_may_be_stored_as(dtype: str, codes: list[str]) -> None:
    blueprint = hfcount.blueprint(DEEPSEEK)
    outcome = _look(blueprint, lambda name: dtype if name.endswith("q_a_proj.weight") else "BF16")
    assert _codes(outcome) == ["HF207", *codes]


@pytest.mark.parametrize(("dtype", "codes"), [("BF16", []), ("F32", []), ("F64", []), ("I64", ["HF303"])])
def test_a_buffer_may_have_a_floating_point_dtype_of_its_own(dtype: str, codes: list[str]) -> None:
    blueprint = hfcount.blueprint(DEEPSEEK)
    outcome = _look(blueprint, lambda name: dtype if name.endswith("e_score_correction_bias") else "BF16")
    assert _codes(outcome) == ["HF207", *codes]


@pytest.mark.parametrize(("dtype", "codes"), [("I64", []), ("I32", []), ("F32", []), ("BF16", ["HF303"])])
def test_indices_are_integers(dtype: str, codes: list[str]) -> None:
    """The table that says which experts a token's id is routed to."""
    outcome = _look(_described("deepseek_v4"), lambda name: dtype if name.endswith("tid2eid") else "BF16")
    assert _codes(outcome) == ["HF207", *codes]
    assert ["needs integers:" in finding.message for finding in outcome.findings[1:]] == [True] * len(codes)


@pytest.mark.parametrize(
    ("declared", "stored", "said"),
    [("bfloat16", "F32", ", twice the bytes"), ("float32", "F16", ", half the bytes"), ("bfloat16", "F16", "as F16: ")],
)
def test_how_much_more_or_less_another_dtype_takes(declared: str, stored: str, said: str) -> None:
    values: Json = DEEPSEEK | {"torch_dtype": declared, "num_nextn_predict_layers": 0}
    (finding,) = _look(hfcount.blueprint(values), lambda name: stored).findings
    assert (finding.code, said in finding.message) == ("HF302", True)
