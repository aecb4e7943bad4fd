"""The header of a GGUF file: every rule of the format, kept and broken, and the ranges that reading it takes."""

import struct
from typing import Any

import pytest
from gguf_files import NUMBERS, Source, laid_out, model, row, source, text, value
from tables import over

from hfcount.errors import DocumentError
from hfcount.formats.gguf.header import GgufHeader, GgufTensor, Long, read_gguf, read_variant
from hfcount.formats.gguf.types import TYPES
from hfcount.formats.gguf.window import FIRST

ROWS = laid_out({"a": (2, 3), "b": (5,)})


def broken(file: Source) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        file.read()
    assert "\n" not in str(caught.value)
    return caught.value


def raw(head: bytes, size: int | None = None) -> Source:
    return Source(head, len(head) if size is None else size)


def head(tensors: int = 0, pairs: int = 0, version: int = 3) -> bytes:
    return struct.pack("<4sIQQ", b"GGUF", version, tensors, pairs)


def many(count: int) -> list[str]:
    return [f"token {number}" for number in range(count)]


# Headers that are accepted


def test_a_header_says_what_the_file_holds() -> None:
    file = source({"general.architecture": "x", "n": 3}, laid_out({"a": (2, 3), "b": (256,)}, {"b": "Q4_K"}))
    header = file.read()
    assert header.metadata == {"general.architecture": "x", "n": 3}
    assert dict(header.tensors) == {"a": GgufTensor("F32", (2, 3), 0, 24), "b": GgufTensor("Q4_K", (256,), 32, 144)}
    assert (header.end, header.data + 32 + 144, header.alignment) == (file.size - 16, file.size - 16, 32)
    assert file.asked == [(0, file.size)]


@pytest.mark.parametrize(
    ("item", "read"),
    [
        (True, True),
        (-5, -5),
        (0.5, 0.5),
        ("text", "text"),
        ([1, 2, 3], (1, 2, 3)),
        ([True, False], (True, False)),
        (["a", "b"], ("a", "b")),
        ((0, b"\xff"), 255),
        ((12, struct.pack("<d", 0.1)), 0.1),
        ((9, struct.pack("<IQ", 4, 0)), ()),
        ((8, text(b"\xff\xfe")), "\ufffd\ufffd"),
        ([0] * 5000, Long(5000)),
        (many(100), Long(100)),
        ("x" * 5000, Long(5000)),
    ],
)
def test_values_of_metadata(item: Any, read: Any) -> None:
    assert source({"first": 1, "key": item, "last": 2}, []).read().metadata == {"first": 1, "key": read, "last": 2}


@over("kind", sorted(TYPES), sorted(TYPES))
def test_every_type_takes_the_bytes_of_its_blocks(kind: int) -> None:
    one = TYPES[kind]
    header = source({}, laid_out({"a": (3, 2 * one.block), "b": (1,)}, {"a": one.name})).read()
    assert header.tensors["a"].bytes == 6 * one.bytes
    assert header.tensors["b"].begin == -(-6 * one.bytes // 32) * 32


@pytest.mark.parametrize("shape", [(), (0,), (0, 7), (1,), (2, 1, 3, 1)])
def test_shapes(shape: tuple[int, ...]) -> None:
    assert source({}, laid_out({"a": shape, "b": (3,)})).read().tensors["a"].shape == shape


def test_another_alignment() -> None:
    pairs = {"general.alignment": 128}
    file = source(pairs, laid_out({"a": (3,), "b": (3,)}, alignment=128), alignment=128)
    header = file.read()
    assert (header.alignment, header.tensors["b"].begin, header.data % 128) == (128, 128, 0)


def test_a_type_of_a_fork_takes_the_place_up_to_the_next_tensor() -> None:
    rows = [("a", (64,), NUMBERS["F32"], 0), ("b", (64,), 137, 256), ("c", (3,), 0, 320)]
    header = source({}, rows).read()
    assert header.foreign == ("b",)
    assert header.tensors["b"] == GgufTensor("type 137", (64,), 256, 64)


def test_bytes_after_the_end_and_a_last_tensor_without_padding_are_read() -> None:
    assert source({}, ROWS, more=4096).read().end
    assert source({}, ROWS, more=-12).read().end == source({}, ROWS).size - 12


def test_no_tensors() -> None:
    assert not source({"a": 1}, []).read().tensors


# Headers that break a rule


@pytest.mark.parametrize(
    ("file", "code", "words"),
    [
        pytest.param(raw(b""), "HF004", "ends within its header: 0 bytes", id="empty"),
        pytest.param(raw(b"GG"), "HF004", "ends within its header", id="cut in the magic"),
        pytest.param(raw(head()[:20]), "HF004", "ends within its header", id="cut in the counts"),
        pytest.param(raw(b"PK\x03\x04" + bytes(60)), "HF003", "not a GGUF file", id="another format"),
        pytest.param(raw(b"<html>no"), "HF003", "HTML", id="a page"),
        pytest.param(raw(b"version https://git-lfs.github.com/spec/v1\n"), "HF003", "LFS", id="a pointer"),
        pytest.param(raw(head(version=1)), "HF003", "version 1", id="version 1"),
        pytest.param(raw(head(version=4)), "HF003", "version 4", id="version 4"),
        pytest.param(raw(head(version=3 << 24)), "HF003", "big-endian", id="big endian"),
        pytest.param(raw(head(version=0)), "HF003", "version 0 of GGUF", id="version 0"),
        pytest.param(raw(head(2**63)), "HF003", "9,223,372,036,854,775,808 tensors", id="2^63 tensors"),
        pytest.param(raw(head(0, 2**64 - 1)), "HF003", "pairs of metadata", id="2^64 pairs"),
        pytest.param(raw(head(1000)), "HF003", "have no room", id="more tensors than bytes"),
        pytest.param(Source(head(300_000), 2**40), "HF003", "at most 50,000", id="too many tensors"),
        pytest.param(Source(head(0, 200_000), 2**40), "HF003", "at most 20,000", id="too many pairs"),
        pytest.param(raw(head(0, 1) + text("key") + bytes(3)), "HF004", "ends within", id="cut before a value"),
        pytest.param(source({"": 1}, []), "HF003", "is empty", id="a key without a name"),
        pytest.param(raw(head(0, 2) + 2 * (text("key") + value(1))), "HF003", "'key' is there twice", id="a key twice"),
        pytest.param(source({"k": (13, bytes(8))}, []), "HF003", "k has type 13", id="a type that is none"),
        pytest.param(
            source({"k": (9, struct.pack("<IQ", 9, 1) + bytes(20))}, []), "HF003", "array of type 9", id="nested arrays"
        ),
        pytest.param(source({"k": (9, struct.pack("<IQ", 8, 2**63))}, []), "HF003", "entries of k", id="2^63 texts"),
        pytest.param(source({"k": (9, struct.pack("<IQ", 10, 2**61))}, []), "HF003", "entries of k", id="2^61 numbers"),
        pytest.param(source({"k": (8, struct.pack("<Q", 2**63))}, []), "HF004", "ends within", id="a text of 2^63"),
        pytest.param(
            Source(head(0, 1) + struct.pack("<Q", 2**40), 2**50), "HF003", "header of more than", id="a key of 2^40"
        ),
        pytest.param(source({"general.alignment": 0}, []), "HF003", "general.alignment is 0", id="alignment 0"),
        pytest.param(source({"general.alignment": 48}, []), "HF003", "alignment is 48", id="alignment 48"),
        pytest.param(source({"general.alignment": "x"}, []), "HF003", "alignment is 'x'", id="alignment a text"),
        pytest.param(source({}, [*ROWS, ("a", (1,), 0, 64)]), "HF003", "a is there twice", id="a name twice"),
        pytest.param(source({}, laid_out({"n" * 64: (1,)})), "HF003", "64 bytes", id="a long name"),
        pytest.param(source({}, [("a", (1,), 0, 32)]), "HF003", "begins at byte 32", id="a hole at the start"),
        pytest.param(source({}, [*ROWS, ("c", (1,), 0, 96)]), "HF003", "begins at byte 96", id="a hole"),
        pytest.param(source({}, [*ROWS, ("c", (1,), 0, 32)]), "HF003", "begins at byte 32", id="an overlap"),
        pytest.param(source({}, [("a", (1, 100), 12, 0)]), "HF003", "rows have 100", id="a row of no whole blocks"),
        pytest.param(source({}, [("a", (2**32, 2**32), 0, 0)]), "HF003", "2^63", id="2^64 elements"),
        pytest.param(source({}, [("a", (2**63, 0), 0, 0)]), "HF003", "2^63", id="an extent of 2^63"),
        pytest.param(
            raw(head(1) + text("a") + struct.pack("<I", 5) + bytes(60)), "HF003", "5 dimensions", id="5 dimensions"
        ),
        pytest.param(
            raw(head(1) + text("a") + struct.pack("<I", 2**32 - 1) + bytes(60)),
            "HF003",
            "dimensions",
            id="2^32 of them",
        ),
        pytest.param(source({}, ROWS, more=-40), "HF004", "28 bytes are missing", id="cut in the data"),
        pytest.param(raw(source({}, ROWS).head[:60]), "HF004", "ends within its header", id="cut in the table"),
        pytest.param(source({"a\x1b[31m": (77, b"")}, []), "HF003", "a\\x1b[31m", id="control characters"),
    ],
)
def test_what_breaks_a_rule_is_told_in_one_line(file: Source, code: str, words: str) -> None:
    error = broken(file)
    assert error.code == code
    assert words in str(error)


def test_a_header_may_be_cut_anywhere() -> None:
    whole = source({"k": [1, 2], "t": ["x", "y"]}, ROWS)
    for stop in range(len(whole.head) - 32):
        assert broken(raw(whole.head[:stop])).code in ("HF003", "HF004")


# Ranges


def test_a_long_header_takes_ranges_that_double() -> None:
    pairs, shapes = model(**{"tokenizer.ggml.tokens": many(150_000), "tokenizer.ggml.merges": many(150_000)})
    file = source(pairs, laid_out(shapes))
    header = file.read()
    assert header.metadata["tokenizer.ggml.tokens"] == Long(150_000)
    assert len(header.tensors) == len(shapes)
    assert [start for start, _ in file.asked] == [0, FIRST, 3 * FIRST]


def test_without_a_size_the_header_is_read_all_the_same() -> None:
    file = source({"a": 1}, ROWS)
    assert read_gguf("x.gguf", None, file).tensors.keys() == {"a", "b"}


@pytest.mark.parametrize("padding", [0, 7, 30_000])
def test_a_variant_takes_one_range(padding: int) -> None:
    pairs, shapes = model(**{"tokenizer.ggml.tokens": many(150_000), "general.file_type": 1, "general.name": "n"})
    known = source(pairs, laid_out(shapes)).read()
    kinds = {name: "Q8_0" for name, shape in shapes.items() if shape[-1] % 32 == 0 and len(shape) > 1}
    other = source({**pairs, "general.file_type": 7, "general.name": "n" * padding}, laid_out(shapes, kinds))
    header = read_variant("other.gguf", other.size, other, known)
    assert header is not None
    assert header.alike and "general.file_type" not in header.metadata
    assert dict(header.tensors) == dict(other.read().tensors)
    assert other.asked[0][1] - other.asked[0][0] < 200_000


def changed(**options: Any) -> tuple[Source, GgufHeader]:
    pairs, shapes = model()
    known = source(pairs, laid_out(shapes)).read()
    return source(pairs, laid_out(options.get("shapes", shapes)), more=options.get("more", 0)), known


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"more": 64}, id="longer"),
        pytest.param({"more": -200}, id="cut"),
        pytest.param({"shapes": model(3)[1]}, id="more layers"),
        pytest.param({"shapes": {"z": (1,), **model()[1]}}, id="another first tensor"),
        pytest.param({"shapes": dict(list(model()[1].items())[:-1])}, id="fewer tensors"),
    ],
)
def test_a_variant_that_does_not_come_out_is_not_taken(options: dict[str, Any]) -> None:
    file, known = changed(**options)
    assert read_variant("other.gguf", file.size, file, known) is None


def test_a_variant_that_is_something_else_is_not_taken() -> None:
    known = changed()[1]
    for content in (b"", b"<html>", bytes(5000), row("token_embd.weight", (1,), 0, 0) * 50):
        assert read_variant("other.gguf", len(content), raw(content), known) is None
