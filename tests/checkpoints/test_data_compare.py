"""Values of two files held against each other: what differs, how much, and what is said of files that change."""

from collections.abc import Callable
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from tables import over

from hfcount.checkpoints.data.compare import Span, compare_all
from hfcount.checkpoints.data.count import CHUNK
from hfcount.checkpoints.data.decode import decoded
from hfcount.checkpoints.data.dequantize import READ, dequantized
from hfcount.checkpoints.data.difference import Difference
from hfcount.checkpoints.data.float_formats import FLOATS, WHOLE
from hfcount.errors import FetchError
from hfcount.formats.dtypes import BITS
from hfcount.formats.gguf.types import BLOCKS


def _span(path: Path, raw: bytes, dtype: str, shape: tuple[int, ...], before: int = 8) -> Span:
    path.write_bytes(b"\1" * before + raw + b"\2" * 5)
    return Span(path, before, len(raw), dtype, shape)


def compare(a: Span, b: Span) -> Difference:
    return compare_all({"": (a, b)}, lambda _: None)[""]


def _floats(tmp_path: Path, a: list[float], b: list[float], dtypes: tuple[str, str] = ("F32", "F32")) -> Difference:
    spans = [
        _span(tmp_path / f"{side}", np.array(some, f"<f{BITS[dtype] // 8}").tobytes(), dtype, (len(some),), 3 + side)
        for side, (some, dtype) in enumerate(zip((a, b), dtypes, strict=True))
    ]
    return compare(*spans)


@pytest.mark.parametrize(("a", "b", "differing", "beyond", "largest", "rms"), [
    ([1, 2, 3, 4], [1, 2, 3, 4], 0, 0, 0, 0),
    ([1, 2, 3, 4], [1, 2, 3, 6], 1, 0, 2, 1),
    ([0, nan, inf, -inf], [0, nan, inf, -inf], 0, 0, 0, 0),
    ([0, nan, 3, 1], [0, 1, inf, 3], 3, 2, 2, 1),
    ([0.0], [-0.0], 1, 0, 0, 0),
    ([1e-30, 0], [0, 0], 1, 0, 1e-30, 7.0710678e-31),
    ([1e30, 0], [0, 0], 1, 0, 1e30, 7.0710678e29),
    ([3e38, nan], [-3e38, nan], 1, 0, 6e38, 4.2426407e38),
    ([], [], 0, 0, 0, 0),
])  # fmt: skip
def test_what_differs_is_counted(
    a: list[float], b: list[float], differing: int, beyond: int, largest: float, rms: float, tmp_path: Path
) -> None:
    found = _floats(tmp_path, a, b)
    assert (found.elements, found.differing, found.beyond, found.identical) == (
        len(a),
        differing,
        beyond,
        not differing,
    )
    assert found.largest == pytest.approx(largest)
    assert found.rms == pytest.approx(rms)


def test_values_of_two_dtypes_are_held_against_each_other(tmp_path: Path) -> None:
    assert _floats(tmp_path, [1, -0.0, nan], [1, 0, nan], ("F32", "F16")).identical
    found = _floats(tmp_path, [1, 2.5, 1e300], [1, 2.0, 1], ("F64", "F32"))
    assert (found.differing, found.largest) == (2, 1e300)
    assert found.rms is None
    assert _floats(tmp_path, [3.0, 4.0], [3.0, 5.0]).relative == pytest.approx(0.5**0.5 / 12.5**0.5)


@over("dtype", [*BITS])
def test_every_dtype_is_the_same_as_itself_and_not_where_a_bit_differs(dtype: str, tmp_path: Path) -> None:
    raw = np.random.default_rng(3).integers(0, 2 if dtype == "BOOL" else 256, 48, dtype=np.uint8)
    other = raw.copy()
    other[16] ^= 1
    shape = (48 * 8 // BITS[dtype],)
    one, same = (_span(tmp_path / name, raw.tobytes(), dtype, shape) for name in "ab")
    assert compare(one, same) == Difference(shape[0])
    assert compare(one, _span(tmp_path / "c", other.tobytes(), dtype, shape)).differing == 1


@over("dtype", [*FLOATS, *WHOLE])
def test_a_dtype_has_the_values_of_the_one_that_holds_them_all(dtype: str, tmp_path: Path) -> None:
    if dtype == "C64":
        return
    raw = np.random.default_rng(4).integers(0, 2 if dtype == "BOOL" else 256, 96, dtype=np.uint8)
    values = decoded(dtype, raw, wide=True)
    shape = (len(values),)
    a = _span(tmp_path / "a", raw.tobytes(), dtype, shape)
    b = _span(tmp_path / "b", values.astype("<f8").tobytes(), "F64", shape)
    assert compare(a, b).identical


def test_tensors_longer_than_a_chunk_are_found_in_any_file(tmp_path: Path) -> None:
    count = 40 * CHUNK // 2 + 3
    codes = np.zeros(count, "<u2")
    a = _span(tmp_path / "a", codes.tobytes(), "BF16", (count,))
    codes[[5, CHUNK // 2, count - 1]] = 0x3F80
    b = _span(tmp_path / "b", codes.tobytes(), "BF16", (count,), 1000)
    seen: list[int] = []
    found = compare_all({"x": (a, b), "y": (b, b)}, seen.append)
    assert (found["x"].differing, found["x"].largest, found["y"].identical) == (3, 1.0, True)
    assert sum(seen) == 2 * (a.size + b.size)


def test_unknown_dtypes_are_held_against_each_other_by_their_bytes(tmp_path: Path) -> None:
    raw = {"a": b"\0" * 74, "b": b"\0" * 73 + b"\1"}
    a, b = (_span(tmp_path / name, codes, "IQ2_XS", (256,)) for name, codes in raw.items())
    assert (compare(a, a).identical, compare(a, b).differing, compare(a, b).largest) == (True, 1, 0.0)


@pytest.mark.parametrize(("spoil", "text"), [
    (lambda path: path.unlink(), "b was deleted while hfcount read it."),
    (lambda path: path.write_bytes(b"12"), "b was changed while hfcount read it. Run again."),
])  # fmt: skip
def test_files_that_are_gone_or_short_are_said(spoil: Callable[[Path], object], text: str, tmp_path: Path) -> None:
    a, b = (_span(tmp_path / name, b"\0" * 8, "F32", (2,)) for name in "ab")
    spoil(b.path)
    with pytest.raises(FetchError) as caught:
        compare(a, b)
    assert str(caught.value) == text


def test_other_shapes_are_refused(tmp_path: Path) -> None:
    a = _span(tmp_path / "a", b"\0" * 8, "F32", (2,))
    for b in (a._replace(shape=(1, 2)), a._replace(dtype="IQ2_XS", size=7)):
        with pytest.raises(ValueError, match="cannot be compared"):
            compare(a, b)


def test_no_rounding_makes_a_zero_of_another_sign(tmp_path: Path) -> None:
    assert all(_floats(tmp_path, [0.0, 1.0], [-0.0, 1.0]).unrounded)
    assert _floats(tmp_path, [-1e-30, 1.1], [-0.0, float(np.float16(1.1))]).unrounded == (True, True, False)


@pytest.mark.long
def test_what_rounding_makes_of_values_is_told_from_other_values(tmp_path: Path) -> None:
    """As torch casts them, to the nearest of two, the even one of two as near."""
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install '.[oracle]'")
    torch.manual_seed(3)
    values = torch.cat([torch.randn(4000) * 10.0**power for power in (-30, -9, -6, -1, 0)])
    values = torch.cat([values, torch.arange(1, 3, 1 / 1024), torch.tensor([0.0, -0.0, 448, 0.4375, 1 / 1024])])
    codes = {
        "F64": torch.float64,
        "BF16": torch.bfloat16,
        "F16": torch.float16,
        "F8_E4M3": torch.float8_e4m3fn,
        "F8_E5M2": torch.float8_e5m2,
    }
    a = _span(tmp_path / "a", values.numpy().tobytes(), "F32", (len(values),))
    for dtype, kind in codes.items():
        cast = values.to(kind)
        raw = bytearray(cast.view(torch.uint8).numpy().tobytes())
        b = _span(tmp_path / dtype, bytes(raw), dtype, (len(values),))
        assert compare(a, b).unrounded[0] is False, dtype
        assert compare(b, a).far is False, dtype
        raw[7 * BITS[dtype] // 8] ^= 1
        assert compare(a, _span(tmp_path / "c", bytes(raw), dtype, (len(values),))).unrounded[0] is True, dtype
        assert compare(b, a).unrounded[0] is bool(compare(b, a).differing)
    halves = [values.to(kind) for kind in (torch.bfloat16, torch.float16)]
    both = [
        _span(tmp_path / name, one.view(torch.uint8).numpy().tobytes(), name, (len(values),))
        for name, one in zip(("BF16", "F16"), halves, strict=True)
    ]
    assert compare(*both).far is False


@over("dtype", [*READ])
def test_blocks_have_the_values_that_ggml_gives_them(dtype: str, tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf", reason="gguf is not installed: pip install '.[oracle]'")
    raw = np.random.default_rng(5).integers(0, 256, 300 * BLOCKS[dtype].bytes, dtype=np.uint8)
    blocks = raw.reshape(300, -1)
    with np.errstate(all="ignore"):
        values = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[dtype]).reshape(-1)
    assert np.array_equal(dequantized(dtype, raw), values, equal_nan=True)
    a = _span(tmp_path / "a", raw.tobytes(), dtype, (len(values),))
    b = _span(tmp_path / "b", values.astype("<f4").tobytes(), "F32", (len(values),))
    assert compare(a, b).identical
    assert compare(b, a).identical


@pytest.mark.parametrize(("dtype", "rows", "wide"), [("F32", 6, 3), ("Q8_0", 8, 64), ("F16", 512, 4096)])
def test_rows_that_take_turns_are_compared_in_order(dtype: str, rows: int, wide: int, tmp_path: Path) -> None:
    """As llama.cpp's converter has the rows of each head."""
    block = BLOCKS.get(dtype)
    width = wide // block.block * block.bytes if block else wide * BITS[dtype] // 8
    halves = np.random.default_rng(6).integers(0, 60, (3, 2, rows // 2, width), dtype=np.uint8)
    plain = _span(tmp_path / "a", halves.tobytes(), dtype, (3 * rows * wide,))
    turned = halves.swapaxes(1, 2).tobytes()
    b = _span(tmp_path / "b", turned, dtype, (3 * rows * wide,))._replace(head=(rows, wide))
    for pair in ((plain, b), (b, plain)):
        assert compare(*pair).identical
    assert not compare(plain, b._replace(head=(0, 0))).identical
