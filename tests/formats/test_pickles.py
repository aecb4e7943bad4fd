"""Files of torch.save, sound and hostile: what is read of them, in how many ranges, and that nothing of it is run."""

from io import BytesIO
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import pytest
from pickled import (
    GOOD,
    MAGIC,
    archive,
    called,
    function,
    legacy,
    number,
    numbers,
    pickle,
    state,
    storage,
    tensor,
    text,
)
from tables import over

from hfcount import blueprint
from hfcount.checkpoints.pickle.check import conditions, ties
from hfcount.formats.pickles import Broken, Pickle, look, read_pickle

PLAN = blueprint({"model_type": "bert"})  # without a dtype
OLD = b"N"  # behind the elements of a storage in a file before torch 1.6


class Source:
    """A file that is read by ranges, which are kept."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.ranges = raw, list[tuple[int, int]]()

    def __call__(self, start: int, stop: int) -> bytes:
        self.ranges.append((start, stop))
        return self.raw[start:stop]


def read(raw: bytes) -> Pickle:
    return read_pickle("x.bin", len(raw), Source(raw))


def problem(raw: bytes) -> tuple[str, str]:
    """How a file is broken, and the message."""
    result = look("x.bin", len(raw), Source(raw))
    assert isinstance(result, Broken), result
    kind = "too-large" if result.large else "cut-off" if result.code == "HF004" else "unreadable"
    return kind, " ".join(filter(None, [result.problem, result.fix]))


def kinds(raw: bytes) -> list[tuple[str, str]]:
    return [(finding.name, finding.severity) for finding in conditions(read(raw), PLAN)]


def repacked(raw: bytes, method: int, *chosen: str) -> bytes:
    """The same archive with some records compressed."""
    out = BytesIO()
    with ZipFile(BytesIO(raw)) as before, ZipFile(out, "w") as after:
        for record in before.infolist():
            name = record.filename
            after.writestr(name, before.read(name), method if name.endswith(chosen) else record.compress_type)
    return out.getvalue()


def patched(raw: bytes, signature: bytes, place: int, value: bytes, first: bool = False) -> bytes:
    """The same archive with some bytes behind a signature replaced: everywhere, or at its first occurrence."""
    edited, begin = bytearray(raw), raw.find(signature)
    while begin >= 0:
        edited[begin + place : begin + place + len(value)] = value
        begin = -1 if first else raw.find(signature, begin + 1)
    return bytes(edited)


# What is read


@pytest.mark.parametrize("old", [False, True], ids=["archive", "before torch 1.6"])
@pytest.mark.parametrize("plain", [False, True], ids=["OrderedDict", "dict"])
def test_reads_names_dtypes_shapes_and_ties(old: bool, plain: bool) -> None:
    more = OLD if old else b""
    first, second = storage("0", 6, view=more), storage("1", 4, "torch.BFloat16Storage", more)
    items = {
        "a": tensor(first),
        "b": tensor(second, (2,), (2,), 1),
        "tied": tensor(first),
        "row": tensor(first, (3,), (1,), 3),
    }
    body = b"(" + b"".join(text(name) + value for name, value in items.items()) + b"u"
    raw = pickle((b"}" if plain else called("collections.OrderedDict")) + body)
    data = {"0": bytes(24), "1": bytes(8)}
    file = read(legacy(raw, {"0": (6, data["0"]), "1": (4, data["1"])}) if old else archive(raw, data))
    assert file.legacy == old
    assert [(name, held.dtype, held.shape, held.stride, held.offset) for name, held in file.tensors.items()] == [
        ("a", "F32", (2, 3), (3, 1), 0),
        ("b", "BF16", (2,), (2,), 1),
        ("tied", "F32", (2, 3), (3, 1), 0),
        ("row", "F32", (3,), (1,), 3),
    ]
    assert ties(file) == (("a", "tied"),)
    assert (file.data, file.unused, file.trailing, file.globals, file.opcodes) == (32, 2, 0, (), ())


BYTES = storage(kind="torch.storage.UntypedStorage", elements=24)
LAYOUT = called("torch.serialization._get_layout", text("torch.sparse_coo"))
ARGUMENTS = b"(" + storage() + number(0) + numbers([6]) + numbers([1]) + b"\x89Nt"
AFFINE = b"(" + function("torch.per_tensor_affine") + b"G" + bytes(8) + number(0) + b"t"
FLOAT8 = function("torch.float8_e4m3fn")
UTILS = "torch._utils._rebuild_"
V2 = f"{UTILS}tensor_v2"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (tensor(BYTES, (3,), (1,), 3, f"{UTILS}tensor_v3", FLOAT8), ("F8_E4M3", (3,), "dense")),
        (called(f"{UTILS}parameter", tensor(), b"\x88", b"N"), ("F32", (2, 3), "dense")),
        (
            called("torch._tensor._rebuild_from_type_v2", function(V2), function("torch.Tensor"), ARGUMENTS, b"}"),
            ("F32", (6,), "dense"),
        ),
        (
            called(f"{UTILS}meta_tensor_no_storage", function("torch.bfloat16"), numbers([4]), numbers([1]), b"\x89"),
            ("BF16", (4,), "meta"),
        ),
        (
            called(f"{UTILS}sparse_tensor", LAYOUT, b"(" + tensor() * 2 + called("torch.Size", numbers([9, 9])) + b"t"),
            ("F32", (9, 9), "sparse"),
        ),
        (
            called(f"{UTILS}qtensor", storage(), number(0), numbers([6]), numbers([1]), AFFINE, b"\x89", b"N"),
            ("F32", (6,), "quantised"),
        ),
    ],
    ids=["v3", "parameter", "with attributes", "meta", "sparse", "quantised"],
)
def test_reads_what_builds_a_tensor(value: bytes, expected: tuple[str, tuple[int, ...], str]) -> None:
    held = read(archive(state(w=value))).tensors["w"]
    assert (held.dtype, held.shape, held.kind) == expected


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(archive(pickle(b"}" + text("w") + tensor() + b"s", 3)), id="protocol 3"),
        pytest.param(
            archive(pickle(function("collections.OrderedDict") + b"(](](U\1w" + tensor() + b"eetR")), id="Python 2"
        ),
        pytest.param(repacked(archive(), ZIP_DEFLATED, "data.pkl"), id="a compressed pickle"),
        pytest.param(patched(patched(archive(), b"PK\3\4", 14, bytes(4)), b"PK\1\2", 16, bytes(4)), id="no checksums"),
        pytest.param(archive() + b"\0" * 100, id="bytes behind the end"),
        pytest.param(archive(without="byteorder"), id="no byte order"),
    ],
)
def test_takes_what_torch_takes(raw: bytes) -> None:
    file = read(raw)
    assert (list(file.tensors), file.opcodes, file.globals) == (["w"], (), ())


# How much is read


def many(count: int, elements: int) -> bytes:
    body = (text(f"model.layers.{key}.w") + tensor(storage(str(key), elements), (2,), (1,)) for key in range(count))
    return archive(pickle(b"}(" + b"".join(body) + b"u"), {str(key): bytes(4 * elements) for key in range(count)})


@pytest.mark.parametrize(("count", "elements", "ranges"), [(10, 2, 1), (200, 1_000, 2), (2_000, 2, 4)])
def test_reads_a_few_ranges(count: int, elements: int, ranges: int) -> None:
    source = Source(many(count, elements))
    file = read_pickle("x.bin", len(source.raw), source)
    assert (len(file.tensors), len(source.ranges)) == (count, ranges)
    assert all(a[1] <= b[0] for a, b in zip(sorted(source.ranges), sorted(source.ranges)[1:], strict=False))


def test_reads_a_file_before_torch_1_6_on_until_its_pickles_end() -> None:
    body = (text(f"model.layers.{key}.w") + tensor(storage(str(key), 2, view=OLD), (2,), (1,)) for key in range(1_000))
    source = Source(legacy(pickle(b"}(" + b"".join(body) + b"u"), {str(key): (2, bytes(8)) for key in range(1_000)}))
    file = read_pickle("x.bin", len(source.raw), source)
    assert (len(file.tensors), file.trailing) == (1_000, 0)
    assert source.ranges == [(0, 65_536), (65_536, 131_072), (131_072, len(source.raw))]


# What loaders make of it


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(archive(), [], id="sound"),
        pytest.param(archive(state()), [], id="an empty state dict"),
        pytest.param(
            archive(pickle(b"}" + text("state_dict") + b"}" + text("w") + tensor() + b"ss")),
            [("not-a-state-dict", "error")],
            id="nested",
        ),
        pytest.param(archive(pickle(b"](" + tensor() + b"e")), [("not-a-state-dict", "error")], id="a list"),
        pytest.param(
            archive(pickle(b"}(" + number(5) + tensor() + text("w") + tensor() + b"u")),
            [("not-a-state-dict", "error")],
            id="a number for a name",
        ),
        pytest.param(
            archive(state(w=tensor(), epoch=number(3))), [("value-beside-tensors", "note")], id="another value"
        ),
        pytest.param(
            archive(state(epoch=number(3), w=tensor())),
            [("value-beside-tensors", "error")],
            id="another value first",
        ),
        pytest.param(
            archive(state(w=tensor(storage(elements=9))), {"0": bytes(36)}), [("unused-bytes", "note")], id="a view"
        ),
        pytest.param(repacked(archive(), ZIP_DEFLATED, "data/0"), [("invalid-header", "error")], id="compressed"),
        pytest.param(archive(storages={"0": bytes(25)}), [("unused-bytes", "note")], id="a longer storage"),
        pytest.param(archive() + b"\0", [("unused-bytes", "note")], id="bytes behind the end"),
        pytest.param(
            archive(state(w=tensor(by=f"{UTILS}qtensor", more=AFFINE))), [("tensor-refused", "error")], id="quantised"
        ),
    ],
)
def test_tells_what_is_to_be_known(raw: bytes, expected: list[tuple[str, str]]) -> None:
    assert kinds(raw) == expected


RUN = b"cposix\nsystem\n(" + text("touch ran") + b"tR"


@pytest.mark.parametrize(
    ("raw", "names", "opcodes"),
    [
        (archive(state(w=tensor(), z=RUN)), ("posix.system",), ()),
        (archive(state(z=b"c__builtin__\neval\n(" + text("1") + b"tR")), ("builtins.eval",), ()),
        (archive(state(z=b"ccommands\ncheck_output\n(]tR")), ("subprocess.check_output",), ()),
        (archive(pickle(b"cargparse\nNamespace\n)\x81}b")), ("argparse.Namespace",), ()),
        (
            archive(pickle(b"\x95" + bytes(8) + b"\x8c\2os\x94\x8c\6system\x93(\x8c\1xtR", 4)),
            ("os.system",),
            ("FRAME", "SHORT_BINUNICODE", "MEMOIZE", "STACK_GLOBAL"),
        ),
        (archive(b"(S'echo'\nios\nsystem\n."), ("os.system",), ("STRING", "INST")),
        (archive(b"cos\nsystem\n(V echo\ntR."), ("os.system",), ("UNICODE",)),
        (archive(pickle(b"(cos\nsystem\n" + text("x") + b"o")), ("os.system",), ("OBJ",)),
        (archive(pickle(b"cos\nsystem\n(" + text("x") + b"t}\x92", 4)), ("os.system",), ("NEWOBJ_EX",)),
        (legacy(state(z=RUN), {}), ("posix.system",), ()),
        (MAGIC + pickle(number(1001)) + pickle(RUN) + state() + pickle(b"]"), ("posix.system",), ()),
        (legacy(state(), {}).removesuffix(pickle(b"](e")) + pickle(RUN + b"0]"), ("posix.system",), ("POP",)),
        (pickle(RUN), ("posix.system",), ()),
        (archive(state(z=b"cos\n\x1b[2Jx\n")), ("os.\x1b[2Jx",), ()),
        (archive(state(z=b"cos\n" + b"x" * 100_000 + b"\n")), ("os." + "x" * 997,), ()),
        (
            archive(state(z=b"ctorch._utils\n_rebuild_tensor_v2.__globals__\n")),
            ("torch._utils._rebuild_tensor_v2.__globals__",),
            (),
        ),
    ],
)
def test_names_what_torch_refuses_and_runs_nothing(
    raw: bytes, names: tuple[str, ...], opcodes: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = read(raw)
    assert (file.globals, file.opcodes) == (names, opcodes)
    assert ("pickle-calls", "error") in kinds(raw)
    assert not list(tmp_path.iterdir())


# What cannot be


HUGE = number(2**63)
END = archive().rfind(b"PK\5\6")


def shaped(shape: bytes, stride: bytes = numbers([3, 1])) -> bytes:
    return archive(state(w=called(V2, storage(), number(0), shape, stride, b"\x89", b"N")))


def held(identity: bytes) -> bytes:
    return archive(state(w=called(V2, identity + b"Q", number(0), numbers([6]), numbers([1]), b"\x89", b"N")))


@over(
    ("raw", "kind", "message"),
    [
        # What is no file of torch.save
        (b"", "unreadable", "is empty (0 bytes)"),
        (b"<!doctype html>", "unreadable", "is an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1", "unreadable", "is a Git LFS pointer"),
        (b'{"error":"x"}', "unreadable", "is a JSON document"),
        (b"Invalid username or password.", "unreadable", "is no file of torch.save: it begins with b'Invalid"),
        (b"GGUF\3", "unreadable", "is a GGUF file"),
        (bytes(500), "unreadable", "begins with 500 zeros"),
        (b"\x40" + bytes(7) + b'{"w":{}}', "unreadable", "is a safetensors file by another name"),
        (bytes(1) + b"x" * 256 + b"ustar", "unreadable", "is a tar archive"),
        (pickle(b"}"), "unreadable", "is a pickle that torch.save did not write"),
        (archive(more={"archive/constants.pkl": b""}), "unreadable", "is a TorchScript archive"),
        # Archives
        (archive(without="data.pkl"), "unreadable", "without the record data.pkl"),
        (archive(without="version"), "unreadable", "without the record version"),
        (archive(more={"other/x": b""}), "unreadable", "other/x lies outside"),
        (archive(more={"archive/DATA.PKL": b""}), "unreadable", "two records named archive/DATA.PKL"),
        (archive()[: END + 20], "cut-off", "is to have at least"),
        (archive()[:300], "cut-off", "It has 300 bytes"),
        (archive()[:40], "cut-off", "It has 40 bytes"),
        (archive() + bytes(70_000), "cut-off", "something else follows it"),
        (archive(storages={}), "unreadable", "the storage 0 is not in the archive. It holds 1 tensor, such as w."),
        (
            archive(storages={"0": bytes(20)}),
            "unreadable",
            "the storage 0 has 20 bytes in the archive, and is to have 24",
        ),
        (archive().replace(b"little", b"middle"), "unreadable", "byteorder has checksum"),
        (patched(archive(), b"PK\5\6", 8, b"\xf0\xff" * 2), "unreadable", "records, and says 65,520"),
        (patched(archive(), b"PK\5\6", 16, b"\xf0\xff"), "unreadable", "goes beyond byte"),
        (patched(archive(), b"PK\5\6", 4, b"\1"), "unreadable", "one of several parts"),
        (patched(archive(), b"PK\1\2", 8, b"\1"), "unreadable", "is encrypted"),
        (patched(archive(), b"PK\1\2", 42, b"\1"), "unreadable", "within"),
        (patched(archive(), b"PK\1\2", 20, b"\xf0\xff\0\0" * 2), "unreadable", "within archive/data.pkl"),
        (patched(archive(), b"PK\1\2", 0, b"PK\1\3", True), "unreadable", "holds 0 records"),
        (patched(archive(), b"PK\3\4", 28, b"\xff\xff", True), "unreadable", "ends after"),
        (repacked(archive(), ZIP_BZIP2, "data.pkl"), "unreadable", "compressed by method 12"),
        (
            patched(repacked(archive(), ZIP_DEFLATED, "data.pkl"), b"PK\1\2", 24, b"\x09", True),
            "unreadable",
            "is to have",
        ),
        (
            repacked(archive(pickle(b"N" * 33_000_000)), ZIP_DEFLATED, "data.pkl"),
            "too-large",
            "at most 32,000,000 are read",
        ),
        (patched(archive(), b"PK\1\2", 20, b"\xff"), "unreadable", "is not compressed, and has"),
        (patched(archive(), b"PK\1\2", 34, b"\1"), "unreadable", "is in another part"),
        (patched(archive(), b"PK\1\2", 46, b"\xff"), "unreadable", "is not UTF-8"),
        (patched(archive(), b"PK\5\6", 8, b"\1"), "unreadable", "one of several parts"),
        (archive(more={"archive/.storage_alignment": b"x"}), "unreadable", ".storage_alignment is b'x', no number"),
        (
            archive(without="version", more={"archive/version": b"11"}),
            "unreadable",
            "version b'11'; torch reads 1 to 10",
        ),
        (archive().replace(b"PK\3\4", b"PK\3\5").replace(b"PK\3\5", b"PK\3\4", 1), "unreadable", "is not at byte"),
        # Files before torch 1.6
        (legacy(GOOD, {"0": (6, bytes(20))}), "cut-off", "and is to have"),
        (legacy(GOOD, {"0": (7, bytes(24))}), "unreadable", "7 elements, and the pickle says 6"),
        (legacy(GOOD, {"0": (6, bytes(24))}, []), "unreadable", "does not hold 1 storage of 1"),
        (legacy(GOOD, {"0": (6, bytes(24))}, ["0", "1"]), "unreadable", "lists storages that no tensor has"),
        (legacy(GOOD, {})[:-20], "cut-off", "ends within its pickles"),
        (MAGIC + pickle(number(1000)), "unreadable", "is to have version 1,001"),
        (
            legacy(state(w=tensor(storage(kind="torch.storage.UntypedStorage", view=OLD))), {}),
            "unreadable",
            "does not read",
        ),
        (
            legacy(state(w=tensor(storage(view=b"(" + text("1") + number(4) + number(4) + b"t"))), {}),
            "unreadable",
            "up to 8 of",
        ),
        # Pickles
        (archive(GOOD[:-1]), "unreadable", "has no end"),
        (archive(b"\xff."), "unreadable", "is no opcode"),
        (archive(b"\x82\0."), "unreadable", "is no opcode"),
        (archive(pickle(b"")), "unreadable", "ends without a value"),
        (archive(pickle(b"tttttttttt")), "unreadable", "a value that is not there"),
        (archive(pickle(b"h\5" + bytes(9))), "unreadable", "never kept"),
        (archive(pickle(b"X\xff\xff\xff\xff")), "unreadable", "has no end"),
        (archive(pickle(b"\x8e" + b"\xff" * 8)), "unreadable", "has no end"),
        (archive(pickle(b"X\1\0\0\0\xff" + bytes(9))), "unreadable", "cannot be decoded"),
        (archive(pickle(b"I" + b"9" * 5_000 + b"\n")), "unreadable", "cannot be read"),
        (archive(pickle(b"(" * 2_000)), "too-large", "nested more than 1,000 levels"),
        (archive(pickle(b"N" * 1_600_000)), "too-large", "more than 1,000,000 opcodes"),
        (
            archive(pickle(b"(" + b"".join(b"ca\n%d\n" % key for key in range(10_001)) + b"t")),
            "too-large",
            "more than 10,000 functions",
        ),
        (
            archive(pickle(b"((" + b"(NNt" * 2_000 + b"tq\0" + b"ccollections\nOrderedDict\nh\0\x85R" * 1_000 + b"t")),
            "too-large",
            "copies more than",
        ),
        (
            archive(pickle(b"(]" + b"N" * 2_000 + b"tq\0" + b"ctorch\nSize\nh\0\x85R" * 1_000 + b"t")),
            "too-large",
            "copies more than",
        ),
        (
            archive(pickle(function("collections.OrderedDict") + b"]Na\x85R" + bytes(9))),
            "unreadable",
            "no list of pairs",
        ),
        (archive(pickle(text("x") + b")R" + bytes(9))), "unreadable", "no function"),
        (archive(pickle(b"NNs" + bytes(9))), "unreadable", "a value that is not there"),
        (archive(pickle(b"NNNs" + bytes(9))), "unreadable", "no dictionary"),
        (archive(pickle(b"NNa" + bytes(9))), "unreadable", "no list"),
        # Tensors
        (shaped(numbers([2**62, 2**62]), numbers([0, 0])), "unreadable", "which is 2^63 bytes or more"),
        (shaped(b"(" + HUGE + number(1) + b"t"), "unreadable", "a shape with 9,223,372,036,854,775,808"),
        (shaped(b"(" + number(-1) + number(1) + b"t"), "unreadable", "a shape with -1"),
        (shaped(b"(" + number(2**1000) + number(1) + b"t"), "unreadable", "a number of 1001 bits"),
        (shaped(b"(\x88\x88t"), "unreadable", "something that is no whole number"),
        (shaped(numbers([1] * 65), numbers([1] * 65)), "unreadable", "at most 64"),
        (shaped(numbers([6])), "unreadable", "1 sizes and 2 strides"),
        (shaped(numbers([2, 4])), "unreadable", "up to byte 28 of storage 0, which has 24"),
        (archive(state(w=tensor(offset=1))), "unreadable", "from element 1, up to byte 28"),
        (archive(state(w=tensor(storage(elements=2**63)))), "unreadable", "has 9,223,372,036,854,775,808 elements"),
        (archive(state(w=tensor(storage(elements=2**60)))), "unreadable", "and is to have 4,611,686,018,427,387,904"),
        (archive(state(w=tensor(storage(kind="os.FloatStorage")))), "unreadable", "no class of torch's"),
        (archive(state(w=tensor(number(1)))), "unreadable", "on something that is no storage"),
        (held(b"(" + text("storage") + b"t"), "unreadable", "describes a storage by 1 values"),
        (
            held(b"(" + text("storage") + function("torch.FloatStorage") + number(1) * 3 + b"t"),
            "unreadable",
            "else than text",
        ),
        (archive(state(w=called(V2, storage()))), "unreadable", "with 1 arguments"),
        (
            archive(
                state(
                    w=called(
                        "torch._tensor._rebuild_from_type_v2",
                        function("torch._tensor._rebuild_from_type_v2"),
                        b"N",
                        b")",
                        b"N",
                    )
                )
            ),
            "unreadable",
            "the function that rebuilds",
        ),
        (
            archive(state(w=tensor(BYTES, by=f"{UTILS}tensor_v3", more=function("torch.Tensor")))),
            "unreadable",
            "a dtype that torch does not have",
        ),
    ],
)
def test_says_what_cannot_be(raw: bytes, kind: str, message: str) -> None:
    found, said = problem(raw)
    assert message in said, said
    assert (found, len(said.splitlines()), len(said) < 600) == (kind, 1, True)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(archive(pickle(b"]q\0h\0a")), id="a list in itself"),
        pytest.param(archive(pickle(b"}q\0" + text("x") + b"h\0s")), id="a dictionary in itself"),
        pytest.param(archive(pickle(b"}" + b")" + b"\x85" * 200_000 + b"Ns")), id="a deep tuple for a key"),
        pytest.param(
            archive(pickle(b"}(" + b"".join(number(key * (2**61 - 1)) + b"N" for key in range(1, 20_000)) + b"u")),
            id="numbers of one hash",
        ),
        pytest.param(
            archive(pickle(b"]q\0" + b"".join(b"](h%ch%ceq%c" % (key, key, key + 1) for key in range(9)) * 20)),
            id="shared lists",
        ),
    ],
)
def test_comes_to_an_end(raw: bytes) -> None:
    assert kinds(raw) == [("not-a-state-dict", "error")]


def test_every_cut_is_told() -> None:
    for raw in (archive(), legacy(state(w=tensor(storage(view=OLD))), {"0": (6, bytes(24))})):
        for length in range(30, len(raw)):
            assert problem(raw[:length])[0] == "cut-off", length


def test_a_file_that_is_shorter_than_it_was_said_to_be() -> None:
    result = look("x.bin", 10**9, Source(archive()))
    assert isinstance(result, Broken)
    assert result.code == "HF004"
