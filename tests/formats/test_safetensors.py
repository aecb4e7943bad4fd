"""The header of a weight file: every rule of the format, kept and broken."""

import json
from math import prod
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import over

from hfcount.errors import DocumentError
from hfcount.formats.safetensors import MAX_HEADER, Entry, Header, header_length, parse_header

BITS = {
    4: ["F4"],
    6: ["F6_E2M3", "F6_E3M2"],
    8: ["BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"],
    16: ["I16", "U16", "F16", "BF16"],
    32: ["I32", "U32", "F32"],
    64: ["C64", "F64", "I64", "U64"],
}
"""The 22 dtypes, by the bits of one element."""

DTYPES = {dtype: bits for bits, dtypes in BITS.items() for dtype in dtypes}

Json = dict[str, Any]


def entry(begin: int = 0, end: int = 8, shape: Any = None, dtype: Any = "BF16") -> Json:
    """A tensor's entry; without a shape, a vector that fits."""
    return {"dtype": dtype, "shape": [(end - begin) // 2] if shape is None else shape, "data_offsets": [begin, end]}


def header(**tensors: Any) -> bytes:
    return json.dumps(tensors).encode()


def metadata(value: Any) -> bytes:
    return json.dumps({"__metadata__": value, "x": entry()}).encode()


GOOD = header(x=entry())


# Headers that are accepted


@pytest.mark.parametrize(
    ("raw", "names", "data"),
    [
        pytest.param(b"{}", [], 0, id="no tensors"),
        pytest.param(header(a=entry(0, 8), b=entry(8, 24)), ["a", "b"], 24, id="two tensors"),
        pytest.param(header(b=entry(8, 24), a=entry(0, 8)), ["b", "a"], 24, id="not in the order of the data"),
        pytest.param(header(x=entry(0, 2, [])), ["x"], 2, id="a scalar"),
        pytest.param(header(x=entry(0, 0, [0])), ["x"], 0, id="an empty tensor"),
        pytest.param(header(x=entry(0, 0, [7, 0, 3])), ["x"], 0, id="an empty tensor with other sizes"),
        pytest.param(header(a=entry(0, 8), b=entry(8, 8, [0]), c=entry(8, 16)), ["a", "b", "c"], 16, id="empty amid"),
        pytest.param(header(c=entry(8, 8, [0]), a=entry(0, 8), b=entry(8, 8, [0])), ["c", "a", "b"], 8, id="two empty"),
        pytest.param(header(x=entry(0, 0, [0, 2**32, 2**32])), ["x"], 0, id="zero times a lot"),
        pytest.param(header(x=entry(0, 3, [3], "U8"), y=entry(3, 5, [1])), ["x", "y"], 5, id="not aligned"),
        pytest.param(header(x=entry() | {"extra": [1]}), ["x"], 8, id="a further field"),
        pytest.param(GOOD + b"   ", ["x"], 8, id="padded with spaces"),
        pytest.param(b"\n\t " + GOOD + b"\r\n", ["x"], 8, id="white space on both sides"),
        pytest.param(metadata({"format": "pt"}), ["x"], 8, id="metadata"),
        pytest.param(metadata({}), ["x"], 8, id="empty metadata"),
        pytest.param(metadata(None), ["x"], 8, id="metadata null"),
        pytest.param(header(**{"": entry()}), [""], 8, id="a name of no letters"),
        pytest.param(header(**{"../x": entry()}), ["../x"], 8, id="a name like a path"),
        pytest.param(header(**{"x\0\x1b[31m": entry()}), ["x\0\x1b[31m"], 8, id="control characters in a name"),
        pytest.param(header(été=entry()), ["été"], 8, id="an escaped name"),
        pytest.param(json.dumps({"été": entry()}, ensure_ascii=False).encode(), ["été"], 8, id="a name in UTF-8"),
        pytest.param(header(__metadata=entry()), ["__metadata"], 8, id="a name close to metadata"),
    ],
)
def test_accepts(raw: bytes, names: list[str], data: int) -> None:
    read = parse_header("x.safetensors", raw)
    assert (list(read.tensors), read.data, read.length) == (names, data, len(raw))
    assert read.file_bytes == 8 + len(raw) + data
    assert read.raw == raw


@over(("dtype", "bits"), DTYPES.items(), DTYPES)
def test_knows_every_dtype(dtype: str, bits: int) -> None:
    """Eight elements take as many bytes as one has bits."""
    read = parse_header("x", header(x=entry(0, bits, [2, 4], dtype)))
    assert read.tensors == {"x": Entry(dtype, (2, 4), 0, bits)}


def test_there_are_22_dtypes() -> None:
    assert len(DTYPES) == 22


@pytest.mark.parametrize(
    ("dtype", "shape", "size"),
    [("F4", [2], 1), ("F4", [3, 2], 3), ("F6_E2M3", [4], 3), ("F6_E3M2", [2, 6], 9), ("F4", [0], 0)],
)
def test_small_dtypes_take_whole_bytes(dtype: str, shape: list[int], size: int) -> None:
    assert parse_header("x", header(x=entry(0, size, shape, dtype))).data == size


# Headers that are refused


def with_offsets(*offsets: Any) -> bytes:
    return header(x=entry() | {"data_offsets": list(offsets)})


def with_shape(*shape: Any) -> bytes:
    return header(x=entry(0, 8, list(shape)))


def without(field: str) -> bytes:
    return header(x={key: value for key, value in entry().items() if key != field})


def raw_shape(text: str) -> bytes:
    return b'{"x":{"dtype":"BF16","shape":[%s],"data_offsets":[0,8]}}' % text.encode()


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth else []


OTHER_THINGS: Json = {"null": None, "number": 1, "text": "x", "list": ["BF16", [4], [0, 8]], "true": True, "empty": {}}

REFUSED = {
    # The layout of the data
    "a hole at the beginning": (header(x=entry(8, 16)), "hole"),
    "a hole between two": (header(a=entry(0, 8), b=entry(10, 18)), "hole"),
    "a hole before an empty tensor": (header(a=entry(0, 8), b=entry(10, 10, [0])), "hole"),
    "an overlap": (header(a=entry(0, 8), b=entry(6, 14)), "overlap"),
    "two at one place": (header(a=entry(0, 8), b=entry(0, 8)), "overlap"),
    "one within another": (header(a=entry(0, 8), b=entry(2, 4)), "overlap"),
    "an empty tensor within another": (header(a=entry(0, 8), b=entry(4, 4, [0])), "overlap"),
    "ends before it begins": (with_offsets(8, 0), "data_offsets"),
    "a negative begin": (with_offsets(-8, 0), "data_offsets"),
    "float offsets": (with_offsets(0.0, 8.0), "data_offsets"),
    "truth values for offsets": (with_offsets(False, True), "data_offsets"),
    "texts for offsets": (with_offsets("0", "8"), "data_offsets"),
    "one offset": (with_offsets(8), "data_offsets"),
    "three offsets": (with_offsets(0, 4, 8), "data_offsets"),
    "no offsets": (with_offsets(), "data_offsets"),
    "null for offsets": (header(x=entry() | {"data_offsets": None}), "data_offsets"),
    "an object for offsets": (header(x=entry() | {"data_offsets": {"0": 0, "8": 8}}), "data_offsets"),
    "an offset of 2^63": (with_offsets(0, 2**63), "data_offsets"),
    "an offset of 5,000 digits": (with_offsets(0, 8).replace(b"8]", b"8" * 5_000 + b"]"), "number|digits"),
    # Shapes and sizes
    "too few bytes": (header(x=entry(0, 6, [4])), "6"),
    "too many bytes": (header(x=entry(0, 10, [4])), "10"),
    "a scalar of two elements": (header(x=entry(0, 4, [])), "4"),
    "bytes for an empty tensor": (header(x=entry(0, 8, [0])), "8"),
    "three elements of four bits": (header(x=entry(0, 2, [3], "F4")), "F4"),
    "three elements of four bits, cut": (header(x=entry(0, 1, [3], "F4")), "F4"),
    "two elements of six bits": (header(x=entry(0, 2, [2], "F6_E2M3")), "F6_E2M3"),
    "a negative size": (with_shape(-4), "shape"),
    "two negative sizes": (with_shape(-2, -2), "shape"),
    "a float size": (with_shape(4.0), "shape"),
    "a size in scientific notation": (raw_shape("4e0"), "shape"),
    "a truth value for a size": (header(x=entry(0, 2, [True])), "shape"),
    "a text for a size": (with_shape("4"), "shape"),
    "null for a size": (with_shape(None), "shape"),
    "a list for a size": (with_shape([4]), "shape"),
    "NaN for a size": (raw_shape("NaN"), "NaN"),
    "Infinity for a size": (raw_shape("Infinity"), "Infinity"),
    "a size of 2^64": (with_shape(2**64), "shape"),
    "a size of 2^63": (with_shape(2**63), "shape"),
    "a size of 5,000 digits": (raw_shape("9" * 5_000), "number|digits"),
    "overflows before it is zero": (header(x=entry(0, 0, [2**32, 2**32, 0])), "shape"),
    "more bits than 2^66": (header(x=entry(0, 8, [2**60], "F64")), "shape"),
    "overflows to what is there": (header(x=entry(0, 8, [2**32, 2**32, 4])), "shape"),
    "a number for a shape": (header(x=entry(0, 8, 4)), "shape"),
    "null for a shape": (header(x=entry() | {"shape": None}), "shape"),
    "a text for a shape": (header(x=entry(0, 8, "4")), "shape"),
    "an empty text for a shape": (header(x=entry(0, 2, "")), "shape"),
    "an empty object for a shape": (header(x=entry(0, 2, {})), "shape"),
    "an object for a shape": (header(x=entry(0, 8, {"4": 4})), "shape"),
    # Dtypes
    "an unknown dtype": (header(x=entry(0, 32, [2], "C128")), "C128"),
    "a dtype of another spelling": (header(x=entry(0, 8, [8], "F8_E4M3FN")), "F8_E4M3FN"),
    "a dtype in lower case": (header(x=entry(dtype="bf16")), "bf16"),
    "a dtype as configs spell it": (header(x=entry(dtype="bfloat16")), "bfloat16"),
    "an empty dtype": (header(x=entry(dtype="")), "dtype"),
    "null for a dtype": (header(x=entry(dtype=None)), "dtype"),
    "a number for a dtype": (header(x=entry(dtype=16)), "dtype"),
    "a list for a dtype": (header(x=entry(dtype=["BF16"])), "dtype"),
    # Fields
    "no dtype": (without("dtype"), "no dtype"),
    "no shape": (without("shape"), "no shape"),
    "no data_offsets": (without("data_offsets"), "no data_offsets"),
    **{f"an entry that is {what}": (header(x=value), "x ") for what, value in OTHER_THINGS.items()},
    # Metadata
    "a number in metadata": (metadata({"epoch": 1}), "__metadata__"),
    "null in metadata": (metadata({"format": None}), "__metadata__"),
    "an object in metadata": (metadata({"format": {}}), "__metadata__"),
    "metadata that is a list": (metadata([]), "__metadata__"),
    "metadata that is a text": (metadata("pt"), "__metadata__"),
    "metadata that is a number": (metadata(0), "__metadata__"),
    "metadata that is false": (metadata(False), "__metadata__"),
    # Duplicate keys
    "a tensor twice": (b'{"x":%s,"x":%s}' % (GOOD[6:-1], GOOD[6:-1]), "duplicate key"),
    "a field twice": (GOOD.replace(b'"shape": [4]', b'"shape": [9], "shape": [4]'), "duplicate key"),
    "metadata twice": (metadata({}).replace(b"{", b'{"__metadata__": {}, ', 1), "duplicate key"),
    "a name within metadata twice": (metadata({"a": "1"}).replace(b'"a": "1"', b'"a": "1", "a": "2"'), "duplicate key"),
    "one name, spelt in two ways": (b'{"x":%s,"\\u0078":%s}' % (GOOD[6:-1], GOOD[6:-1]), "duplicate key"),
    # What is no JSON object in UTF-8
    "nothing": (b"", "empty"),
    "spaces": (b"        ", "empty"),
    "a list": (b"[]", "object"),
    "null": (b"null", "object"),
    "a text": (b'"x"', "object"),
    "zeros": (b"\0" * 16, "JSON"),
    "a zero at the end": (GOOD + b"\0", "JSON"),
    "more after the end": (GOOD + b"{}", "JSON"),
    "cut off": (GOOD[:-1], "JSON"),
    "a comment": (GOOD + b"// x", "JSON"),
    "single quotes": (GOOD.replace(b'"', b"'"), "JSON"),
    "not UTF-8": (GOOD.replace(b"x", b"\xff"), "UTF-8"),
    "an overlong NUL": (GOOD.replace(b"x", b"\xc0\x80"), "UTF-8"),
    "a surrogate in UTF-8": (GOOD.replace(b"x", b"\xed\xa0\x80"), "UTF-8"),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD, "byte order mark"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "UTF-8"),
    "a further field 100 deep": (header(x=entry() | {"y": nested(100)}), "deep"),
    # Python 3.13 parses it and 3.11 gives up: either way it is refused.
    "5,000 deep": (b'{"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}", "deep|must be an object"),
    "100,000 deep": (b'{"x":' + b"[" * 100_000, "deep|JSON"),
}


@over(("raw", "says"), REFUSED.values(), ids=REFUSED)
def test_refuses(raw: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=says) as caught:
        parse_header("model-00007.safetensors", raw)
    assert caught.value.code == "HF003"
    assert "model-00007.safetensors" in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("name", ["\ud800", "\udfff\ud800", "\x1b[2J\r", "\u202e", "n" * 10_000])
def test_a_message_shows_any_name(name: str) -> None:
    """Lone surrogates cannot be written, control characters rewrite the line, and a long name fills the screen."""
    with pytest.raises(DocumentError) as caught:
        parse_header("x", header(**{name: entry(0, 7)}))
    text = str(caught.value)
    assert text.isprintable()
    assert text.encode("utf-8")
    assert len(text) < 600


# The eight bytes before


def first(length: int, rest: bytes = b"{}") -> bytes:
    return length.to_bytes(8, "little") + rest


@pytest.mark.parametrize(
    ("start", "file_bytes", "length"),
    [
        pytest.param(first(2), 10, 2, id="the least there is"),
        pytest.param(first(2), 10**12, 2, id="with data"),
        pytest.param(first(0), 8, 0, id="none"),
        pytest.param(first(MAX_HEADER), 8 + MAX_HEADER, MAX_HEADER, id="the most"),
        pytest.param(first(2), None, 2, id="of a file of unknown size"),
        pytest.param(first(2)[:8], 10, 2, id="nothing else read yet"),
    ],
)
def test_reads_the_length(start: bytes, file_bytes: int | None, length: int) -> None:
    assert header_length("x", start, file_bytes) == length


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 4976698672\n"
NO_LENGTH = {
    "nothing": (b"", 0, "0 bytes"),
    "seven bytes": (b"\2" + b"\0" * 6, 7, "7 bytes"),
    "longer than the format allows": (first(MAX_HEADER + 1), 10**12, "100,000,001"),
    "of all bits": (b"\xff" * 8, 10**12, "18,446,744,073,709,551,615"),
    "big-endian": ((64).to_bytes(8, "big"), 10**6, "4,611,686,018,427,387,904"),
    "one more than the file": (first(3), 10, "8 . 3"),
    "longer than the file": (first(10**6), 10, "8 . 1,000,000"),
    "a Git LFS pointer": (LFS, len(LFS), "Git LFS"),
    "an HTML page": (b"<!DOCTYPE html>\n<html>", 22, "HTML"),
    "an HTML page without a doctype": (b"\n <HTML lang=en>", 16, "HTML"),
    "short HTML": (b"<html>", 6, "HTML"),
    "what torch.save writes": (b"PK\x03\x04\x00\x00\x08\x08", 9_000, "is a ZIP archive, as torch.save writes"),
    "what torch.save wrote": (b"\x80\x02\x8a\nl\xfc\x9cF", 9_000, "is a pickled file, as torch.save writes"),
    "GGUF": (b"GGUF\x03\x00\x00\x00", 9_000, "is a GGUF file, not a safetensors file"),
    "compressed": (b"\x1f\x8b\x08\x08\x8c\x1f\x92\x67", 9_000, "is compressed with gzip"),
    "XML": (b'<?xml version="1.0"?><Error/>', 29, "is XML, probably a server's error message"),
    "a JSON answer": (b'{"error": "no such repo"}', 25, "is a JSON document, probably a server's error message"),
}


@pytest.mark.parametrize(("start", "file_bytes", "says"), NO_LENGTH.values(), ids=list(NO_LENGTH))
def test_refuses_the_length(start: bytes, file_bytes: int, says: str) -> None:
    with pytest.raises(DocumentError, match=says) as caught:
        header_length("model.safetensors", start, file_bytes)
    assert caught.value.code == "HF003"
    assert "model.safetensors" in str(caught.value)


# Anything at all


def outcome(raw: bytes) -> Header | str:
    """The header, or the code of the error."""
    try:
        return parse_header("x", raw)
    except DocumentError as error:
        assert str(error).isprintable()
        return error.code


NUMBERS = st.integers(-1, 9) | st.sampled_from([2**31, 2**32, 2**62, 2**63, 2**64, 10**40]) | st.floats()
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=4) | st.sampled_from([*DTYPES, "\ud800"])
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["dtype", "shape", "data_offsets", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)
ALMOST = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["U8", "BF16", "F4"]) | SCALARS,
        "shape": st.lists(NUMBERS, max_size=3) | ANYTHING,
        "data_offsets": st.lists(NUMBERS, min_size=2, max_size=2) | ANYTHING,
    }
)


@given(st.binary(max_size=200))
@example(b"\xff\xfe{\0}\0")
def test_any_bytes_give_a_header_or_hf003(raw: bytes) -> None:
    assert isinstance(result := outcome(raw), Header) or result == "HF003"


@given(st.dictionaries(st.text(max_size=3) | st.just("__metadata__"), ALMOST | ANYTHING, max_size=3) | ANYTHING)
def test_any_json_gives_a_header_or_hf003(value: Any) -> None:
    assert isinstance(result := outcome(json.dumps(value).encode()), Header) or result == "HF003"


@given(st.binary(max_size=40), st.none() | st.integers(0, 2**63))
def test_any_first_bytes_give_a_length_or_hf003(start: bytes, file_bytes: int | None) -> None:
    try:
        length = header_length("x", start, file_bytes)
    except DocumentError as error:
        assert error.code == "HF003"
    else:
        assert 0 <= length <= MAX_HEADER
        assert file_bytes is None or length + 8 <= file_bytes


@st.composite
def headers(draw: st.DrawFn) -> tuple[dict[str, Entry], dict[str, str] | None, bytes]:
    """Tensors, metadata, and the bytes that a correct writer makes of them."""
    names = draw(st.lists(st.text(st.characters(codec="utf-8"), max_size=9), unique=True, max_size=6))
    tensors, place = {}, 0
    for name in names:
        if name == "__metadata__":
            continue
        dtype, shape = draw(st.sampled_from(list(DTYPES))), draw(st.lists(st.integers(0, 5), max_size=3))
        shape += [8] if prod(shape) * DTYPES[dtype] % 8 else []
        size = prod(shape) * DTYPES[dtype] // 8
        tensors[name] = Entry(dtype, tuple(shape), place, place + size)
        place += size
    notes = draw(st.none() | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), st.text(max_size=4)))
    fields: Json = {} if notes is None else {"__metadata__": notes}
    fields |= {
        name: {"dtype": one.dtype, "shape": list(one.shape), "data_offsets": [one.begin, one.end]}
        for name, one in draw(st.permutations(list(tensors.items())))
    }
    compact = draw(st.booleans())
    text = json.dumps(fields, ensure_ascii=draw(st.booleans()), separators=(",", ":") if compact else None)
    return tensors, notes, text.encode("utf-8", "surrogatepass") + b" " * draw(st.integers(0, 8))


@given(headers())
def test_what_a_writer_writes_is_read(case: tuple[dict[str, Entry], dict[str, str] | None, bytes]) -> None:
    tensors, _, raw = case
    read = parse_header("x", raw)
    assert dict(read.tensors) == tensors
    assert read.data == max((one.end for one in tensors.values()), default=0)
    assert read.file_bytes == 8 + len(raw) + read.data
