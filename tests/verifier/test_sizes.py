"""Bytes: which reading of the listed tensors gives total_size exactly, the declared dtype's first."""

import pytest

from hfcount.formats import dtypes
from hfcount.verifier.dtypes_from_total import exact


@pytest.mark.parametrize(
    ("total_size", "weights", "buffers", "declared", "text", "by_dtype"),
    [
        (200, 100, 0, "BF16", "100 × 2 (BF16)", {"BF16": 100}),
        (200, 100, 0, "F16", "100 × 2 (F16)", {"F16": 100}),
        (400, 100, 0, "BF16", "100 × 4 (F32)", {"F32": 100}),
        (800, 100, 0, "BF16", "100 × 8 (F64)", {"F64": 100}),
        (100, 100, 0, "BF16", "100 × 1", None),
        (200, 100, 0, "F32", "100 × 2", None),
        (200, 100, 0, None, "100 × 2", None),
        (400, 100, 0, None, "100 × 4 (F32)", {"F32": 100}),
        (240, 100, 10, "BF16", "100 × 2 (BF16) + 10 × 4 (F32) of buffers", {"BF16": 100, "F32": 10}),
        (220, 100, 10, "BF16", "100 × 2 (BF16) + 10 × 2 (BF16) of buffers", {"BF16": 110}),
        (440, 100, 10, "F32", "100 × 4 (F32) + 10 × 4 (F32) of buffers", {"F32": 110}),
        (40, 0, 10, "BF16", "0 × 2 (BF16) + 10 × 4 (F32) of buffers", {"F32": 10}),
        (2_000_000, 1_000_000, 0, "BF16", "1,000,000 × 2 (BF16)", {"BF16": 1_000_000}),
    ],
)
def test_an_exact_reading(
    total_size: int, weights: int, buffers: int, declared: str | None, text: str, by_dtype: dict[str, int] | None
) -> None:
    reading = exact(total_size, weights, buffers, declared)
    assert reading is not None
    assert (str(reading), reading.by_dtype) == (text, by_dtype)


@pytest.mark.parametrize(
    ("total_size", "text", "by_dtype"),
    [
        (216, "100 × 2 (BF16) + 8 × 2 (BF16) of masks and indices", {"BF16": 108}),
        (232, "100 × 2 (BF16) + 8 × 4 (F32) of masks and indices", {"BF16": 100, "F32": 8}),
        (208, "100 × 2 (BF16) + 8 × 1 of masks and indices", None),
        (201, "100 × 2 (BF16) + 8 × 1/8 (BOOL) of masks and indices", {"BF16": 100, "BOOL": 8}),
        (264, "100 × 2 (BF16) + 8 × 8 (I64) of masks and indices", {"BF16": 100, "I64": 8}),
    ],
)
def test_a_reading_with_masks(total_size: int, text: str, by_dtype: dict[str, int] | None) -> None:
    """Writers once took a boolean for an eighth of a byte."""
    reading = exact(total_size, 100, 0, "BF16", flags=8)
    assert reading is not None
    assert (str(reading), reading.by_dtype, reading.elements) == (text, by_dtype, 108)


@pytest.mark.parametrize(
    ("total_size", "weights", "buffers", "declared"),
    [
        (199, 100, 0, "BF16"),
        (300, 100, 0, "BF16"),
        (0, 100, 0, "BF16"),
        (241, 100, 10, "BF16"),
        (200, 100, 10, "BF16"),
        (2**63, 100, 0, None),
    ],
)
def test_no_exact_reading(total_size: int, weights: int, buffers: int, declared: str | None) -> None:
    assert exact(total_size, weights, buffers, declared) is None


@pytest.mark.parametrize(
    ("name", "code", "width"),
    [
        ("bfloat16", "BF16", 2),
        ("float16", "F16", 2),
        ("half", "F16", 2),
        ("float32", "F32", 4),
        ("float", "F32", 4),
        ("float64", "F64", 8),
        ("float8_e4m3fn", "F8_E4M3", 1),
        ("float8_e5m2", "F8_E5M2", 1),
    ],
)
def test_what_configs_call_a_dtype(name: str, code: str, width: int) -> None:
    assert (dtypes.code(name), dtypes.width(code)) == (code, width)


@pytest.mark.parametrize("name", [None, "", "int8", "BF16", "auto", "bfloat16 ", "\ud800"])
def test_what_no_whole_model_is_stored_in(name: str | None) -> None:
    assert dtypes.code(name) is None
