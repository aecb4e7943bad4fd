"""The index, read with suspicion: what it may say, and which of it is refused before anything is asked for."""

from typing import Any

import pytest
from build import Json, raw

from hfcount.errors import DocumentError
from hfcount.formats import index_cache
from hfcount.formats.index import MAX_NAME, MAX_SHARDS, Index, is_safe, read_index
from hfcount.formats.index_cache import RecentIndexes
from hfcount.formats.json import Document

ONE = {"a.weight": "model.safetensors"}


def _read(value: Json) -> Index:
    return read_index(Document("org/m@ad44e77 model.safetensors.index.json", raw(value)))


def _refused(value: Json) -> DocumentError:
    with pytest.raises(DocumentError) as raised:
        _read(value)
    assert str(raised.value).startswith("org/m@ad44e77 model.safetensors.index.json")
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 500
    return raised.value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({}, "no weight_map"),
        ({"weight_map": None}, "no weight_map"),
        ({"weight_map": {}}, "an empty weight_map"),
        ({"weight_map": []}, "a list for a weight_map"),
        ({"weight_map": [["a", "b"]]}, "a list for a weight_map"),
        ({"weight_map": "a"}, '"a" for a weight_map'),
        ({"weight_map": 1}, "1 for a weight_map"),
        ({"weight_map": False}, "false for a weight_map"),
        ({"weight_map": {**ONE, "b": 1}}, "1 for b"),
        ({"weight_map": {**ONE, "b": None}}, "null for b"),
        ({"weight_map": {**ONE, "b": ["model.safetensors"]}}, "a list for b"),
        ({"weight_map": {**ONE, "b": {}}}, "an object for b"),
        ({"weight_map": {**ONE, "b\x1b[31m\ud800": 1}}, r"b\x1b[31m\ud800"),
        ({"weight_map": {**ONE, "b" * (MAX_NAME + 1): "model.safetensors"}}, "1,001 characters"),
        ({"weight_map": {str(n): f"{n}.safetensors" for n in range(MAX_SHARDS + 1)}}, "10,001 shards"),
        ({"weight_map": ONE, "metadata": []}, "metadata is a list"),
        ({"weight_map": ONE, "metadata": "5"}, 'metadata is "5"'),
    ],
    ids=lambda value: value if isinstance(value, str) else "index",
)
def test_a_malformed_index(value: Json, why: str) -> None:
    error = _refused(value)
    assert (error.code, why in str(error)) == ("HF001", True)


@pytest.mark.parametrize("name", ["total_size", "total_parameters"])
@pytest.mark.parametrize(
    ("written", "read"),
    [("0", 0), ("5", 5), ("5.0", 5), ("5e3", 5000), ("-0.0", 0), ("9223372036854775807", 2**63 - 1), ("null", None)],
)
def test_claims(name: str, written: str, read: int | None) -> None:
    index = _read_text(f'{{"metadata": {{"{name}": {written}}}, "weight_map": {{"a": "model.safetensors"}}}}')
    assert getattr(index, name) == read


@pytest.mark.parametrize("name", ["total_size", "total_parameters"])
@pytest.mark.parametrize(
    "written",
    ["-1", "-1.0", '"5"', "5.5", "1e400", "-1e400", "1e300", "true", "false", "[5]", "{}", "9223372036854775808"],
)
def test_claims_that_are_no_number_of_anything(name: str, written: str) -> None:
    with pytest.raises(DocumentError, match=f"metadata.{name} is") as raised:
        _read_text(f'{{"metadata": {{"{name}": {written}}}, "weight_map": {{"a": "model.safetensors"}}}}')
    assert raised.value.code == "HF001"


def _read_text(text: str) -> Index:
    return read_index(Document("index", text.encode()))


@pytest.mark.parametrize("metadata", [{}, None, {"format": "pt", "total_flos": "x"}], ids=["empty", "null", "others"])
def test_no_claims(metadata: Any) -> None:
    index = _read({"metadata": metadata, "weight_map": ONE})
    assert (index.total_size, index.total_parameters) == (None, None)


@pytest.mark.long
def test_the_largest_index_that_is_read() -> None:
    shards = {str(n): f"{n}.safetensors" for n in range(MAX_SHARDS)}
    index = _read({"weight_map": {**shards, "b" * MAX_NAME: "0.safetensors"}})
    assert (len(index.weight_map), len(index.shards)) == (MAX_SHARDS + 1, MAX_SHARDS)


@pytest.mark.parametrize(
    "shard",
    [
        "model.safetensors",
        "model-00001-of-00163.safetensors",
        "transformer/model-00001-of-00002.safetensors",
        "a/b/c.safetensors",
        "model (1), überarbeitet = 2.safetensors",
        "..model.safetensors",
        "model..safetensors",
        ".../model.safetensors",
        "x" * 243 + ".safetensors",
    ],
    ids=lambda shard: shard[:30],
)
def test_safe_shard_names(shard: str) -> None:
    assert is_safe(shard)
    assert _read({"weight_map": {"a": shard}}).shards == {shard}


@pytest.mark.parametrize(
    "shard",
    [
        "",
        ".safetensors",
        "model.bin",
        "model.safetensors.bin",
        "model.SAFETENSORS",
        "model.safetensors\n",
        "model.safetensors ",
        "../../x.safetensors",
        "a/../../x.safetensors",
        "a/..",
        "./x.safetensors",
        "/etc/passwd",
        "/etc/x.safetensors",
        "//elsewhere/x.safetensors",
        "a//x.safetensors",
        "a/.safetensors",
        "a/",
        "https://elsewhere/x.safetensors",
        "file:x.safetensors",
        "C:x.safetensors",
        r"C:\x.safetensors",
        r"..\x.safetensors",
        r"a\x.safetensors",
        "\0.safetensors",
        "x\0.safetensors",
        "x\r\n.safetensors",
        "x\x1b[31m.safetensors",
        "x\x7f.safetensors",
        "%2e%2e/x.safetensors",
        "..%2fx.safetensors",
        "x%00.safetensors",
        "x\x85.safetensors",
        "\ud800.safetensors",
        "x" * 244 + ".safetensors",
    ],
    ids=lambda shard: ascii(shard)[1:-1][:30],
)
def test_unsafe_shard_names(shard: str) -> None:
    assert not is_safe(shard)
    error = _refused({"weight_map": {**ONE, "b": shard}})
    assert (error.code, "Nothing was requested" in str(error)) == ("HF002", True)


def test_an_index_that_was_read_last_is_not_read_again() -> None:
    read, document = RecentIndexes(), Document("org/m model.safetensors.index.json", raw({"weight_map": ONE}))
    first = read(document)
    assert first == read_index(document)
    again = Document("org/copy model.safetensors.index.json", bytes(bytearray(document.raw)))
    assert read(again) is first
    other = Document("org/other model.safetensors.index.json", document.raw + b"\n")
    assert read(other) == first
    assert read(other) is not first


def test_indexes_that_were_read_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_cache, "_BYTES", 100)
    read, short = RecentIndexes(), Document("short", raw({"weight_map": ONE}))
    long = Document("long", short.raw + b" " * 100)
    first = read(short)
    assert read(long) is not read(long)
    assert read(short) is not first


def test_an_index_that_is_refused_is_refused_again() -> None:
    read = RecentIndexes()
    for where in ("one", "two"):
        with pytest.raises(DocumentError, match=where):
            read(Document(where, b"{}"))
